// SPDX-License-Identifier: BSD-3-Clause
#include "tests/gpu/fake/cudart/machine.hpp"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdlib.h>
#include <unistd.h>

namespace fake_gpu {
namespace {

/// The machine of tests/gpu/fake/machines/eight.
std::string describe_eight() {
  std::string text;
  for (const char bus : std::string_view("12345678")) {
    text += std::string("gpu pci=0000:") + bus + "1:00.0 memory=1GiB cc=9.0 name=Fake GPU X9\n";
  }
  return text;
}

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

bool parse_number(const std::string& text, double* number) {
  char* end = nullptr;
  *number = std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == '\0' && *number >= 0;
}

bool set_key(Gpu& gpu, const std::string& key, const std::string& value) {
  if (key == "pci") return (gpu.pci = value).size() == 12;
  if (key == "memory") return (gpu.memory_bytes = parse_bytes(value)) != 0;
  if (key == "cc") return std::sscanf(value.c_str(), "%d.%d", &gpu.major, &gpu.minor) == 2;
  if (key == "mig") return std::sscanf(value.c_str(), "%d", &gpu.mig) == 1 && gpu.mig >= 0;
  if (key == "name") return (gpu.name = value).rfind("Fake GPU", 0) == 0;
  return false;
}

bool set_key(Machine& machine, const std::string& key, const std::string& value) {
  if (key == "connect") return parse_number(value, &machine.connect_seconds);
  if (key == "nccl") return (machine.nccl_bytes = parse_bytes(value)) != 0;
  if (key == "symmetric") machine.symmetric = value != "no";
  if (key == "multicast") machine.multicast = value == "yes";
  return key == "symmetric" || key == "multicast";
}

/// KEY=VALUE ..., of which a name is the last and takes the rest of the line.
template <class Target>
bool set_keys(Target& target, std::istringstream& words) {
  std::string word;
  while (words >> word) {
    const std::size_t at = word.find('=');
    const std::string key = word.substr(0, at);
    std::string value = at == std::string::npos ? "" : word.substr(at + 1);
    if (key == "name") {
      std::string rest;
      std::getline(words, rest);
      value += rest;
    }
    if (!set_key(target, key, value)) return false;
  }
  return true;
}

void parse_line(Machine& machine, const std::string& line, const std::string& file) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (word == "machine" && set_keys(machine, words)) return;
  Gpu gpu;
  gpu.place = static_cast<int>(machine.installed.size());
  if (word != "gpu" || !set_keys(gpu, words) || gpu.pci.empty() || gpu.memory_bytes == 0 ||
      gpu.major == 0 || gpu.name.empty()) {
    die(file +
        ": a line is `gpu pci=0000:11:00.0 memory=1GiB cc=9.0 name=Fake GPU X9` or `machine "
        "connect=4 nccl=300MiB symmetric=no multicast=yes`, not `" +
        line + "`");
  }
  machine.installed.push_back(gpu);
}

bool is_index(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// The GPU that an entry of CUDA_VISIBLE_DEVICES names; null where there is none, or not one only.
const Gpu* find_visible(const std::vector<Gpu>& gpus, const std::string& entry) {
  const Gpu* found = nullptr;
  for (const Gpu& gpu : gpus) {
    const bool named = is_index(entry) ? std::to_string(gpu.place) == entry
                                       : entry.size() > 4 && gpu.uuid_text().rfind(entry, 0) == 0;
    if (!named) continue;
    if (found != nullptr) return nullptr;
    found = &gpu;
  }
  return found;
}

/// CUDA shows one MIG instance, or GPUs that are not divided.
std::vector<Gpu> without_other_instances(std::vector<Gpu> gpus) {
  if (gpus.empty()) return gpus;
  if (gpus.front().mig >= 0) return {gpus.front()};
  std::erase_if(gpus, [](const Gpu& gpu) { return gpu.mig >= 0; });
  return gpus;
}

Machine load() {
  const char* file = ::getenv("FAKE_GPU_MACHINE");
  std::string text = describe_eight();
  if (file != nullptr) {
    std::ifstream in(file);
    if (!in) die(std::string("FAKE_GPU_MACHINE: cannot read ") + file);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  Machine made = parse_machine(text, file == nullptr ? "built-in machine" : file);
  made.gpus = select_visible(made.installed, ::getenv("CUDA_VISIBLE_DEVICES"));
  made.identity = host_name() + "\n" + text;
  return made;
}

}  // namespace

void die(const std::string& why) {
  static_cast<void>(std::fprintf(stderr, "fake GPU: %s\n", why.c_str()));
  std::abort();
}

std::string host_name() {
  std::array<char, 256> host{};
  static_cast<void>(::gethostname(host.data(), host.size() - 1));
  return host.data();
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
  const std::string instance = mig < 0 ? "" : "/" + std::to_string(mig);
  const std::uint64_t halves[2] = {hash_text(pci + name + instance),
                                   hash_text(name + pci + instance)};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes.at(i) = static_cast<unsigned char>(halves[i / 8] >> (8 * (i % 8)));
  }
  return bytes;
}

std::string Gpu::uuid_text() const {
  std::string text = mig < 0 ? "GPU-" : "MIG-";
  const auto bytes = uuid();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::array<char, 3> hex{};
    static_cast<void>(std::snprintf(hex.data(), hex.size(), "%02x", bytes.at(i)));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += "-";
    text += hex.data();
  }
  return text;
}

Machine parse_machine(std::string_view text, const std::string& file) {
  Machine machine;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.front() != '#') parse_line(machine, line, file);
  }
  return machine;
}

std::vector<Gpu> select_visible(const std::vector<Gpu>& gpus, const char* visible) {
  if (visible == nullptr) return without_other_instances(gpus);
  std::vector<Gpu> left;
  std::istringstream entries{std::string(visible)};
  for (std::string entry; std::getline(entries, entry, ',');) {
    const Gpu* found = find_visible(gpus, entry);
    if (found == nullptr) break;
    left.push_back(*found);
  }
  return without_other_instances(left);
}

const Machine& machine() {
  static const Machine* const kMachine = new Machine(load());  // threads outlive static objects
  return *kMachine;
}

const Gpu& gpu(int device) { return machine().gpus.at(static_cast<std::size_t>(device)); }

}  // namespace fake_gpu
