// SPDX-License-Identifier: BSD-3-Clause
// The device's code thread by thread on the host: every index, alignment and remainder, without a
// device.
#include <vector_functions.h>

#include "backends/nccl/device_memory.hpp"

#undef __device__
#undef __global__
#define __device__
#define __global__

namespace {

struct Dimension {
  unsigned x = 0;
};
Dimension blockIdx;
Dimension blockDim;
Dimension threadIdx;
Dimension gridDim;

// As the CUDA C++ Programming Guide defines them.
unsigned __ldg(const unsigned* from) { return *from; }
unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32U | low) >> (shift & 31U));
}
void atomicAdd(unsigned long long* to, unsigned long long value) { *to += value; }
void atomicMin(unsigned long long* to, unsigned long long value) { *to = std::min(*to, value); }

}  // namespace

// The backend's own, which the tests are linked with, are for the device.
#define busbar_fill busbar_fill_on_host
#define busbar_compare busbar_compare_on_host
#define busbar_load_copy busbar_load_copy_on_host
#define busbar_load_spin busbar_load_spin_on_host
#include "backends/nccl/kernels.cuh"

namespace busbar {
namespace {

constexpr unsigned long long kElements = 101;  // of a period: a prime, as the pattern's
constexpr std::size_t kMargin = 64;
constexpr unsigned char kUntouched = 0xee;

template <class Kernel>
void run_on_all_threads(const Kernel& kernel) {
  gridDim.x = 3;
  blockDim.x = 32;
  for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) {
    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) kernel();
  }
}

/// A period of `element`-byte elements with its tail, and memory that begins `shift` bytes after a
/// 16-byte boundary, with margins that must stay as they are.
struct Field {
  Field(unsigned element, std::size_t bytes, std::size_t shift)
      : period(kElements * element), tile(period + kTileTail), memory(bytes + 2 * kMargin + 32) {
    for (std::size_t i = 0; i < tile.size(); ++i) {
      tile[i] = static_cast<unsigned char>((i % period) * 37 + (i % period) / 5 + 1);
    }
    std::fill(memory.begin(), memory.end(), kUntouched);
    const auto past = reinterpret_cast<std::uintptr_t>(memory.data()) % 16;
    data = memory.data() + kMargin + (16 - past) % 16 + shift;
  }

  void fill(unsigned long long bytes, unsigned long long first) {
    run_on_all_threads([&] { busbar_fill(data, bytes, tile.data(), period, first); });
  }
  DeviceComparison compare(unsigned long long count, unsigned element, unsigned long long first) {
    DeviceComparison result{.wrong = 0, .first_wrong = ~0ULL};
    run_on_all_threads(
        [&] { busbar_compare(data, count, element, tile.data(), period, first, &result.wrong); });
    return result;
  }
  [[nodiscard]] bool is_right(std::size_t bytes, unsigned long long first) const {
    for (std::size_t i = 0; i < bytes; ++i) {
      if (data[i] != tile[(first + i) % period]) return false;
    }
    return true;
  }
  [[nodiscard]] bool is_untouched_around(std::size_t bytes) const {
    const auto untouched = [](unsigned char byte) { return byte == kUntouched; };
    return std::all_of(memory.data(), static_cast<const unsigned char*>(data), untouched) &&
           std::all_of(static_cast<const unsigned char*>(data) + bytes,
                       memory.data() + memory.size(), untouched);
  }

  unsigned long long period;
  std::vector<unsigned char> tile;
  std::vector<unsigned char> memory;
  unsigned char* data = nullptr;
};

constexpr unsigned kSizes[] = {1, 2, 4, 8};
constexpr unsigned long long kCounts[] = {1, 2, 3, 15, 16, 17, 100, 101, 102, 1000, 4099};
constexpr unsigned long long kFirsts[] = {0, 1, 7, 50, 100};

TEST(FillKernel, WritesThePeriodFromAnyElementToAnyAlignmentAndNothingElseAsCompared) {
  for (const unsigned element : kSizes) {
    for (const unsigned long long count : kCounts) {
      for (unsigned shift = 0; shift < 16; shift += element) {
        for (const unsigned long long first : kFirsts) {
          Field field(element, count * element, shift);
          field.fill(count * element, first * element);
          ASSERT_TRUE(field.is_right(count * element, first * element))
              << element << " bytes, " << count << " elements, shift " << shift << ", " << first;
          ASSERT_TRUE(field.is_untouched_around(count * element));
          ASSERT_EQ(field.compare(count, element, first * element).wrong, 0U);
        }
      }
    }
  }
}

TEST(LoadKernel, CopiesEveryByteAndNoOther) {
  for (const unsigned long long bytes : kCounts) {
    Field from(1, bytes, 0);
    from.fill(bytes, 0);
    Field to(1, bytes, 0);
    run_on_all_threads([&] { busbar_load_copy(to.data, from.data, bytes); });
    ASSERT_TRUE(std::equal(to.data, to.data + bytes, from.data)) << bytes;
    ASSERT_TRUE(to.is_untouched_around(bytes)) << bytes;
  }
  float result = 5;
  run_on_all_threads([&] { busbar_load_spin(&result, 10); });
  EXPECT_EQ(result, 5);
}

TEST(CompareKernel, NamesTheFirstOfEveryWrongElementWhereverItIs) {
  for (const unsigned element : kSizes) {
    for (const unsigned long long count : {1ULL, 17ULL, 102ULL, 1000ULL}) {
      for (unsigned long long wrong = 0; wrong < count; ++wrong) {
        Field field(element, count * element, element % 16);
        field.fill(count * element, 0);
        field.data[wrong * element + element - 1] ^= 0x80;
        field.data[(count - 1) * element] ^= 1;
        const DeviceComparison found = field.compare(count, element, 0);
        ASSERT_EQ(found.wrong, wrong == count - 1 ? 1U : 2U) << element << " " << wrong;
        ASSERT_EQ(found.first_wrong, wrong);
      }
    }
  }
}

TEST(CompareKernel, SeesDataThatIsAPeriodsElementAway) {
  Field field(4, 4000, 0);
  field.fill(4000, 0);
  EXPECT_EQ(field.compare(1000, 4, 4).wrong, 1000U);
  EXPECT_EQ(field.compare(1000, 4, kElements * 4).wrong, 0U);
}

}  // namespace
}  // namespace busbar
