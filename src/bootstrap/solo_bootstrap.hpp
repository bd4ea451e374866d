// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdlib>

#include "base/text.hpp"
#include "model/bootstrap.hpp"

namespace busbar {

/// A single process without MPI.
class SoloBootstrap final : public Bootstrap {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] int node() const override { return 0; }
  [[nodiscard]] int nodes() const override { return 1; }
  void barrier() override {}
  void broadcast_bytes(std::span<std::byte> /*bytes*/, int /*root*/) override {}
  void gather_bytes(std::span<const std::byte> mine, std::span<std::byte> all) override {
    std::ranges::copy(mine, all.begin());
  }
  [[nodiscard]] Words gather_texts(const std::string& mine) override { return {mine}; }
  [[nodiscard]] std::string scatter_texts(const Words& texts) override { return texts.front(); }
  void combine(std::span<double> /*values*/, Combine /*how*/) override {}
  [[nodiscard]] std::unique_ptr<Bootstrap> split(int /*color*/) override {
    return std::make_unique<SoloBootstrap>();
  }
  [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }
};

}  // namespace busbar
