// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <functional>

#include "model/bootstrap.hpp"

namespace busbar::test {

/// One process that plays a rank among ranks that all do the same as it.
class FakeBootstrap final : public Bootstrap {
 public:
  explicit FakeBootstrap(int rank = 0, int size = 1) : rank_(rank), size_(size) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] int node() const override { return 0; }
  [[nodiscard]] int nodes() const override { return node_count; }
  void barrier() override { ++barriers; }
  void broadcast_bytes(std::span<std::byte> /*bytes*/, int /*root*/) override { ++broadcasts; }
  void gather_bytes(std::span<const std::byte> mine, std::span<std::byte> all) override {
    for (std::size_t at = 0; at < all.size(); at += mine.size()) {
      std::memcpy(all.data() + at, mine.data(), mine.size());
    }
  }
  [[nodiscard]] std::vector<std::string> gather_texts(const std::string& mine) override {
    return std::vector<std::string>(static_cast<std::size_t>(rank_ == 0 ? size_ : 0), mine);
  }
  [[nodiscard]] std::string scatter_texts(const std::vector<std::string>& texts) override {
    return rank_ == 0 ? texts.front() : std::string();
  }
  void combine(std::span<double> values, Combine how) override {
    combined.push_back(how);
    others(values, how);
    if (how != Combine::Sum) return;
    for (double& value : values) value *= size_;
  }
  [[nodiscard]] std::unique_ptr<Bootstrap> split(int color) override {
    colors.push_back(color);
    return std::make_unique<FakeBootstrap>(rank_, size_);
  }
  [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }

  /// What another rank has that this one has not; it changes the values.
  std::function<void(std::span<double> values, Combine how)> others = [](auto, auto) {};
  int node_count = 1;
  int barriers = 0;
  int broadcasts = 0;
  std::vector<Combine> combined;
  std::vector<int> colors;

 private:
  int rank_;
  int size_;
};

}  // namespace busbar::test
