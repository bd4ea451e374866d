// SPDX-License-Identifier: BSD-3-Clause
#include "model/host_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <sys/mman.h>

#include <fmt/format.h>

#include "base/error.hpp"

namespace busbar {
namespace {

constexpr Bytes kHugePage = 2 * kMiB;
constexpr int kPoison = 0xa5;

/// What is mapped for a buffer, room to align aside.
Bytes whole_pages(Bytes bytes) {
  return (std::max<Bytes>(bytes, 1) + kHugePage - 1) / kHugePage * kHugePage;
}

}  // namespace

std::optional<double> huge_page_share(const Buffer& buffer) {
  constexpr std::string_view kKey = "AnonHugePages:";
  const auto begin = reinterpret_cast<std::uintptr_t>(buffer.data());
  const Bytes size = whole_pages(buffer.size());
  std::ifstream file("/proc/self/smaps");
  std::optional<Bytes> huge;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    std::uintptr_t first = 0;
    std::uintptr_t last = 0;
    char dash = '\0';
    std::istringstream text(line);
    text >> std::hex >> first >> dash >> last;  // "7f00-7fff rw-p ..." begins a mapping
    if (text && dash == '-') {
      inside = first >= begin && last <= begin + size;
    } else if (inside && line.starts_with(kKey)) {
      huge = huge.value_or(0) + std::stoull(line.substr(kKey.size())) * kKiB;
    }
  }
  if (!huge) return std::nullopt;
  return static_cast<double>(*huge) / static_cast<double>(size);
}

Buffer allocate_host(Bytes bytes, Pages pages) {
  const Bytes size = whole_pages(bytes);
  const Bytes mapped = size + kHugePage;  // room to align
  void* base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) {
    throw Error{Status::Unavailable, fmt::format("no memory for a buffer of {}: {}",
                                                 format_bytes(bytes), std::strerror(errno))};
  }
  auto* start = static_cast<std::byte*>(base);
  const Bytes past = reinterpret_cast<std::uintptr_t>(start) % kHugePage;
  std::byte* aligned = past == 0 ? start : start + (kHugePage - past);
  // Advice: a kernel without huge pages refuses it, and all pages are small. It also gives the
  // buffer a mapping of its own, which huge_page_share looks for.
  madvise(aligned, size, pages == Pages::Huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  Buffer buffer(aligned, bytes, [start, mapped](std::byte*) { munmap(start, mapped); });
  poison_host(aligned, size);
  return buffer;
}

void fill_host(std::byte* to, std::uint64_t count, const Tile& tile, std::uint64_t first) {
  const std::size_t element = tile.element_size();
  std::uint64_t position = first % Pattern::kPeriod;
  while (count > 0) {
    const std::uint64_t run = std::min(count, Pattern::kPeriod - position);
    std::memcpy(to, tile.data() + position * element, run * element);
    to += run * element;
    count -= run;
    position = 0;
  }
}

Difference compare_host(const std::byte* data, std::uint64_t count, const Tile& tile,
                        std::uint64_t first) {
  const std::size_t element = tile.element_size();
  Difference result;
  std::uint64_t position = first % Pattern::kPeriod;
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t run = std::min(count - done, Pattern::kPeriod - position);
    const std::byte* expected = tile.data() + position * element;
    const std::byte* got = data + done * element;
    const std::uint64_t end = done + run;
    if (std::memcmp(got, expected, run * element) == 0) done = end;
    for (; done < end; ++done, expected += element, got += element) {
      if (std::memcmp(got, expected, element) == 0 || result.wrong++ > 0) continue;
      result.first_wrong = done;
      result.expected = element_text(tile.type(), expected);
      result.got = element_text(tile.type(), got);
    }
    position = 0;
  }
  return result;
}

void poison_host(std::byte* to, Bytes bytes) { std::memset(to, kPoison, bytes); }

namespace {

class HostSideWork final : public SideWork {
 public:
  HostSideWork(Buffer from, Buffer to, std::uint64_t turns)
      : from_(std::move(from)), to_(std::move(to)), turns_(turns) {}

  void pass() override {
    if (turns_ > 0) return spin(turns_);
    const Bytes piece = std::min(kPiece, from_.size() - at_);
    std::memcpy(to_.data() + at_, from_.data() + at_, piece);
    at_ = at_ + piece == from_.size() ? 0 : at_ + piece;
  }

 private:
  static constexpr Bytes kPiece = kMiB;  // a pass is short beside the time of many

  Buffer from_;
  Buffer to_;
  Bytes at_ = 0;
  std::uint64_t turns_;
};

}  // namespace

std::unique_ptr<SideWork> HostCommunicator::side_work(const Load& load) {
  if (load.copy > 0) {
    return std::make_unique<HostSideWork>(allocate(load.copy), allocate(load.copy), 0);
  }
  const auto turns = static_cast<std::uint64_t>(spinning_rate() * load.spin.count());
  return std::make_unique<HostSideWork>(Buffer(), Buffer(), std::max<std::uint64_t>(1, turns));
}

}  // namespace busbar
