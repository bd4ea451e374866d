// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fake_gpu/cudart/machine.hpp"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdlib.h>
#include <unistd.h>

namespace fake_gpu {
namespace {

constexpr std::string_view kEight =
    "gpu pci=0000:11:00.0 memory=1GiB cc=9.0 name=Fake GPU X9\n"
    "gpu pci=0000:21:00.0 memory=1GiB cc=9.0 name=Fake GPU X9\n"
    "gpu pci=0000:31:00.0 memory=1GiB cc=9.0 name=Fake GPU X9\n"
    "gpu pci=0000:41:00.0 memory=1GiB cc=9.0 name=Fake GPU X9\n"
    "gpu pci=0000:51:00.0 memory=1GiB cc=9.0 name=Fake GPU X9\n"
    "gpu pci=0000:61:00.0 memory=1GiB cc=9.0 name=Fake GPU X9\n"
    "gpu pci=0000:71:00.0 memory=1GiB cc=9.0 name=Fake GPU X9\n"
    "gpu pci=0000:81:00.0 memory=1GiB cc=9.0 name=Fake GPU X9\n";

std::uint64_t parse_bytes(const std::string& text) {
  unsigned long long number = 0;
  std::array<char, 4> unit{};
  if (std::sscanf(text.c_str(), "%llu%3s", &number, unit.data()) == 2) {
    const std::string name = unit.data();
    if (name == "GiB") return number << 30;
    if (name == "MiB") return number << 20;
  }
  return 0;
}

void set_key(Gpu& gpu, const std::string& key, const std::string& value) {
  if (key == "pci") gpu.pci = value;
  if (key == "memory") gpu.memory_bytes = parse_bytes(value);
  if (key == "cc" && std::sscanf(value.c_str(), "%d.%d", &gpu.major, &gpu.minor) != 2)
    gpu.major = 0;
  if (key == "name") gpu.name = value;
}

Gpu parse_gpu(const std::string& line, const std::string& file) {
  Gpu gpu;
  std::istringstream words(line);
  std::string word;
  words >> word;
  bool known = word == "gpu";
  while (known && words >> word) {
    const std::size_t at = word.find('=');
    const std::string key = word.substr(0, at);
    std::string value = at == std::string::npos ? "" : word.substr(at + 1);
    known = key == "pci" || key == "memory" || key == "cc" || key == "name";
    if (key == "name") {
      std::string rest;
      std::getline(words, rest);
      value += rest;
    }
    set_key(gpu, key, value);
  }
  if (!known || gpu.pci.size() != 12 || gpu.memory_bytes == 0 || gpu.major == 0 ||
      gpu.name.rfind("Fake GPU", 0) != 0) {
    die(file + ": a line is `gpu pci=0000:11:00.0 memory=1GiB cc=9.0 name=Fake GPU X9`, not `" +
        line + "`");
  }
  return gpu;
}

Machine load() {
  Machine made;
  std::array<char, 256> host{};
  static_cast<void>(::gethostname(host.data(), host.size() - 1));
  const char* file = ::getenv("FAKE_GPU_MACHINE");
  std::string text(kEight);
  if (file != nullptr) {
    std::ifstream in(file);
    if (!in) die(std::string("FAKE_GPU_MACHINE: cannot read ") + file);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  made.gpus = select_visible(parse_gpus(text, file == nullptr ? "built-in machine" : file),
                             ::getenv("CUDA_VISIBLE_DEVICES"));
  made.identity = std::string(host.data()) + "\n" + text;
  return made;
}

}  // namespace

void die(const std::string& why) {
  static_cast<void>(std::fprintf(stderr, "fake GPU: %s\n", why.c_str()));
  std::abort();
}

std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
  }
  return hash;
}

std::uint64_t Gpu::bus_id() const {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  if (std::sscanf(pci.c_str(), "%x:%x:%x", &domain, &bus, &device) != 3)
    die("bad PCI address " + pci);
  return (std::uint64_t{domain} << 20) | (std::uint64_t{bus} << 12) | (std::uint64_t{device} << 4);
}

std::array<unsigned char, 16> Gpu::uuid() const {
  std::array<unsigned char, 16> bytes{};
  const std::uint64_t halves[2] = {hash_text(pci + name), hash_text(name + pci)};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes.at(i) = static_cast<unsigned char>(halves[i / 8] >> (8 * (i % 8)));
  }
  return bytes;
}

std::vector<Gpu> parse_gpus(std::string_view text, const std::string& file) {
  std::vector<Gpu> gpus;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    gpus.push_back(parse_gpu(line, file));
    gpus.back().place = static_cast<int>(gpus.size()) - 1;
  }
  return gpus;
}

std::vector<Gpu> select_visible(const std::vector<Gpu>& gpus, const char* visible) {
  if (visible == nullptr) return gpus;
  std::vector<Gpu> left;
  std::istringstream indices{std::string(visible)};
  for (std::string index; std::getline(indices, index, ',');) {
    char* end = nullptr;
    const long place = std::strtol(index.c_str(), &end, 10);
    if (end == index.c_str() || *end != '\0' || place < 0) break;
    if (place >= static_cast<long>(gpus.size())) break;
    left.push_back(gpus[static_cast<std::size_t>(place)]);
  }
  return left;
}

const Machine& machine() {
  static const Machine* const kMachine = new Machine(load());  // threads outlive static objects
  return *kMachine;
}

}  // namespace fake_gpu
