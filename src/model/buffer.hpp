// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "base/units.hpp"

namespace busbar {

/// Pages that host memory lies on: the kernel's huge ones where it has them, or its ordinary ones.
enum class Pages { Huge, Small };

/// Memory that a backend allocated and that goes back to it; move-only. Where it lies (host or
/// device) is the backend's business.
class Buffer {
 public:
  using Release = std::function<void(std::byte*, Bytes)>;

  Buffer() = default;
  Buffer(std::byte* data, Bytes size, Release release)
      : data_(data), size_(size), release_(std::move(release)) {}
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (data_ != nullptr) release_(data_, size_);
  }

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] Bytes size() const { return size_; }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(release_, other.release_);
  }

  std::byte* data_ = nullptr;
  Bytes size_ = 0;
  Release release_;
};

}  // namespace busbar
