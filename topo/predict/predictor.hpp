// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "model/collective.hpp"
#include "topo/predict/cluster.hpp"

namespace busbar::topo {

/// The time of an operation with one algorithm and protocol: a fixed part, and one that grows with
/// the size.
struct Schedule {
  double fixed_us = 0;
  double us_per_byte = 0;

  [[nodiscard]] double time_us(double bytes) const { return fixed_us + us_per_byte * bytes; }
};

[[nodiscard]] Algorithm algorithm_of(Sending sending);
/// True for what all-to-all, gather, scatter and send-receive use; rings stand for it in a list of
/// algorithms.
[[nodiscard]] bool is_direct(Sending sending);

/// A ringed collective on a set with these limits and step times; nothing where it cannot be sent
/// so. Formulas: docs/simulation.md.
[[nodiscard]] std::optional<Schedule> schedule(const Collective& collective, Sending sending,
                                               const SetLimits& limits, const StepTimes& times);

/// An operation in which every rank sends straight to those whom it has data for.
struct Exchange {
  double seconds = 0;   ///< for a GB of its size
  std::string limit{};  ///< as Bound::limit
};

/// Who sends how much to whom in an exchange, as far as the movement leaves it open.
struct Routed {
  int root = 0;                      ///< a rank
  const Traffic* traffic = nullptr;  ///< of an all-to-all of unequal parts
};

/// By the link with the most data for its rate, in a host or between hosts. Nothing where a pair
/// has no route.
[[nodiscard]] std::optional<Exchange> exchange(Movement movement, const Routed& routed,
                                               const Cluster& cluster, const RankSet& set,
                                               const SetLimits& limits,
                                               const BoundOptions& options);

struct PredictOptions {
  int ranks = 2;
  Selection devices{};
  std::optional<int> flows{};            ///< empty: what the system's file says
  std::optional<Algorithm> algorithm{};  ///< empty: the quickest that the library has
  int gpus_per_process = 1;              ///< that issues the operations of one after the other's
};

/// The predicted time of one operation, and how it would be sent.
struct Prediction {
  double time_us = 0;
  Sending sending = Sending::Ring;
};

/// Predicts times of collectives on a machine. What depends only on the set is computed once.
class Predictor {
 public:
  /// Throws Error (Usage) where the ranks do not fit.
  Predictor(const EqualHosts& machine, const PredictOptions& options);

  /// Nothing where the collective has no model on this set, or the wanted algorithm is none for it.
  [[nodiscard]] std::optional<Prediction> predict(const Collective& collective, double bytes,
                                                  const Routed& routed = {}) const;
  /// Bus bandwidth that the links allow the best of these algorithms, without any loss.
  [[nodiscard]] std::optional<double> bound_GBps(const Collective& collective,
                                                 const Routed& routed = {}) const;
  /// What limits that, as Bound::limit; empty where there is no bound.
  [[nodiscard]] std::string bottleneck(const Collective& collective,
                                       const Routed& routed = {}) const;

  /// Takes other figures of the software; the flows stay.
  void set_protocol(const Protocol& protocol);

  [[nodiscard]] const Cluster& cluster() const { return nominal_cluster_; }
  [[nodiscard]] const RankSet& set() const { return set_; }
  [[nodiscard]] const Protocol& protocol() const { return protocol_; }
  [[nodiscard]] const BoundOptions& bound_options() const { return bound_options_; }
  /// By the standards' figures.
  [[nodiscard]] const SetLimits& limits() const { return nominal_; }

 private:
  [[nodiscard]] bool may_take(Sending sending) const;
  /// `seconds`: of a GB of a direct operation; nothing for others.
  [[nodiscard]] std::optional<Schedule> way_of(const Collective& collective, Sending sending,
                                               std::optional<double> seconds) const;
  [[nodiscard]] Schedule straight(Movement movement, double seconds, const StepTimes& times) const;
  [[nodiscard]] std::optional<double> exchange_seconds(Movement movement, double bytes,
                                                       const Routed& routed) const;
  /// The best of these algorithms without any loss.
  [[nodiscard]] std::optional<Exchange> quickest(const Collective& collective,
                                                 const Routed& routed) const;

  PredictOptions options_;
  Cluster nominal_cluster_;
  Protocol protocol_;
  BoundOptions bound_options_;
  RankSet set_;
  SetLimits nominal_;
  Cluster real_cluster_;  ///< with what software reaches of each medium
  SetLimits real_;
  /// What topo::exchange took with these limits.
  mutable std::map<std::pair<Movement, int>, std::optional<double>> exchanges_{};  ///< by root
};

}  // namespace busbar::topo
