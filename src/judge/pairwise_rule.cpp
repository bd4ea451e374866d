// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/fleet/confirmation.hpp"
#include "judge/fleet/low_paths.hpp"
#include "judge/fleet/rehearsal.hpp"
#include "judge/rule_check.hpp"
#include "stats/summary.hpp"

namespace busbar::judge {
namespace {

using Values = std::vector<double>;

class PairwiseJudge {
 public:
  PairwiseJudge(std::span<const SampleKey> keys, const JudgeInput& input,
                const ReferenceOf& reference_of)
      : keys_(keys),
        rule_(keys.front().rule),
        input_(input),
        reference_of_(reference_of),
        paths_(input.paths_of(input.nodes)),
        table_(gather_pairs(keys.front(), input.observations, input.nodes, false)),
        again_(gather_pairs(keys.front(), input.observations, input.nodes, true)),
        launches_(node_launches(keys.front(), input)) {
    for (const SampleKey& key : keys) {
      CheckedRow& row =
          point_.rows.emplace_back(blank_row(rule_, key.instance, key.collective, key.size));
      row.sample = table_.common;
      row.sample.failures = launches_[point_.rows.size() - 1].failures;
      append(row.sample.failures, table_.common.failures);
    }
  }

  [[nodiscard]] PointResult judge() {
    if (rule_.compare == RuleKind::Fleet) {
      judge_by_fleet();
    } else {
      judge_by_bounds();
    }
    for (std::size_t node = 0; node < launches_.size(); ++node) {
      launches_[node].judge(point_.rows[node], input_.specification.run.min_launches);
    }
    blame_wrong_data();
    add_pairs();
    return std::move(point_);
  }

 private:
  [[nodiscard]] double rate(const MeasuredPair& pair) const {
    return as_rate(pair.value, rule_.metric);
  }

  // ---- wrong data ------------------------------------------------------------------------------

  void blame_wrong_data() {
    std::map<NumberPair, std::vector<std::string>> wrong = table_.wrong;
    for (const auto& [pair, texts] : again_.wrong) append(wrong[pair], texts);
    if (wrong.empty()) return;
    std::set<NumberPair> all;
    for (const MeasuredPair& pair : table_.pairs) all.insert(pair.nodes);
    for (const auto& [pair, texts] : wrong) all.insert(pair);
    const auto pairs = mapped(all, [&](const NumberPair& pair) {
      return JudgedPair{pair.first, pair.second, wrong.contains(pair)};
    });
    const auto text = [&](const NumberPair& pair) {
      return fmt::format("{}: {}", pair_instance(input_.nodes, pair).name,
                         join(wrong.at(pair), "; "));
    };
    if (wrong.size() == all.size() && all.size() > 1) {
      for (const auto& [pair, texts] : wrong) {
        for (const std::size_t node : {pair.first, pair.second}) {
          decide(point_.rows[node], Outcome::Fail,
                 fmt::format("wrong data in all {} pairs: no node stands out ({})", all.size(),
                             text(wrong.begin()->first)),
                 DecidedBy::WrongData);
        }
      }
      point_.none_stands_out = true;
      return;
    }
    const Blame blame = blame_of(input_.nodes.size(), pairs);
    for (const BlamedNode& node : blame.nodes) {
      const auto first = std::ranges::find_if(wrong, [&](const auto& each) {
        return each.first.first == node.node || each.first.second == node.node;
      });
      decide(point_.rows[node.node], Outcome::Fail,
             fmt::format("wrong data in {} of {} pairs ({})", node.count.low, node.count.all,
                         text(first->first)),
             DecidedBy::WrongData);
    }
    for (const NumberPair& link : blame.links) {
      decide(pair_row(link), Outcome::Fail, "wrong data: " + join(wrong.at(link), "; "),
             DecidedBy::WrongData);
    }
  }

  /// What pairs had, for pictures of fleets that one can look at.
  void add_pairs() {
    constexpr std::size_t kMost = 64;
    if (input_.nodes.size() > kMost) return;
    std::map<NumberPair, Values> values;
    for (const MeasuredPair& pair : table_.pairs) values[pair.nodes].push_back(pair.value);
    for (const auto& [nodes, all] : values) {
      const SampleKey& key = keys_.front();
      CheckResult pair =
          blank_row(rule_, pair_instance(input_.nodes, nodes), key.collective, key.size);
      pair.value = stats::median(all);
      pair.reference = point_.rows[nodes.first].reference;
      const bool is_low = pair.reference && is_slow(*pair.value / *pair.reference);
      pair.outcome = is_low || table_.wrong.contains(nodes) ? Outcome::Fail : Outcome::Pass;
      point_.pairs.push_back(std::move(pair));
    }
  }

  // ---- rows ------------------------------------------------------------------------------------

  /// A row beside those of nodes, with what is known of all launches.
  CheckedRow& extra_row(const Instance& instance) {
    const auto same = [&](const CheckedRow& row) { return row.instance == instance.name; };
    const SampleKey& key = keys_.front();
    CheckedRow row = blank_row(rule_, instance, key.collective, key.size);
    row.sample = table_.common;
    row.sample.failures.clear();
    return find_or_add(point_.extra, same, std::move(row));
  }
  CheckedRow& pair_row(const NumberPair& pair) {
    return extra_row(pair_instance(input_.nodes, pair));
  }

  void take(CheckedRow& row, const Values& rates) {
    for (const double each : rates) row.sample.values.push_back(as_rate(each, rule_.metric));
    take_sample(row, rule_, input_);
  }

  /// Pairs that a node is judged by.
  using Counts = std::function<bool(const MeasuredPair& pair, std::size_t partner)>;

  /// The upper median of each node's pairs in each launch, as rates.
  [[nodiscard]] std::vector<Values> node_rates(const Counts& counts) const {
    std::vector<std::map<std::size_t, Values>> pairs(input_.nodes.size());
    for (const MeasuredPair& pair : table_.pairs) {
      const auto [first, second] = pair.nodes;
      if (counts(pair, second)) pairs[first][pair.launch].push_back(rate(pair));
      if (counts(pair, first)) pairs[second][pair.launch].push_back(rate(pair));
    }
    return mapped(pairs, [](const std::map<std::size_t, Values>& launches) {
      return mapped<double>(launches, [](const auto& one) { return upper_median(one.second); });
    });
  }

  /// What rows of pairs said where a node has no value.
  void add_errors() {
    for (const auto& [pair, errors] : table_.errors) {
      for (const std::size_t node : {pair.first, pair.second}) {
        for (const std::string& error : errors) {
          if (!has_value_[node]) add_new(point_.rows[node].sample.errors, error);
        }
      }
    }
  }

  // ---- by bounds -------------------------------------------------------------------------------

  [[nodiscard]] bool is_slow(double ratio) const {
    const Miss miss = miss_of(rule_.bounds, ratio);
    return miss.outcome == Outcome::Fail && miss.above == (rule_.metric == Metric::Time);
  }

  void judge_by_bounds() {
    std::map<NumberPair, Values> rates;
    for (const PairTable* table : {&table_, &again_}) {
      for (const MeasuredPair& pair : table->pairs) rates[pair.nodes].push_back(rate(pair));
    }
    for (const SampleKey& key : keys_) references_.push_back(reference_of_(key, table_.common));
    std::vector<JudgedPair> pairs;
    for (const auto& [nodes, values] : rates) {
      const double value = as_rate(stats::median(values), rule_.metric);
      const Reference& reference = references_[nodes.first];
      pairs.push_back(
          {nodes.first, nodes.second, reference.error.empty() && is_slow(value / reference.value)});
    }
    const std::set<NumberPair> over = explain_by_paths(pairs);
    const Blame blame = blame_by_bounds(pairs, !over.empty());
    const std::set<NumberPair> links(blame.links.begin(), blame.links.end());
    judge_nodes_by_bounds(blame, over, links);
    for (const auto& [pair, values] : rates) {
      if (links.contains(pair) || is_too_good(pair, stats::median(values))) {
        judge_link_by_bounds(pair, values);
      }
    }
  }

  /// Low pairs over a bad path, which may be one that the levels lack, show the path and nothing of
  /// their nodes: they are taken out, and returned.
  std::set<NumberPair> explain_by_paths(std::vector<JudgedPair>& pairs) {
    std::set<NumberPair> over;
    const auto explain = [&](UnitFinding path, const std::vector<NodePath>& paths,
                             const std::string& hint) {
      const auto is_over = [&](const JudgedPair& pair) {
        return pair.low && crosses(paths[pair.first], paths[pair.second], path);
      };
      std::set<NumberPair> own = set_of(filtered(pairs, is_over), [](const JudgedPair& pair) {
        return NumberPair{pair.first, pair.second};
      });
      if (own.size() < kFewestOver || is_by_one_node(own)) return;
      std::erase_if(pairs, is_over);
      path.count.low = own.size();
      add_path_by_bounds(path, own, hint);
      over.merge(own);
    };
    for (const UnitFinding& path : find_low_paths(paths_, pairs)) explain(path, paths_, "");
    const auto explain_cut = [&](const std::optional<LowCut>& cut) {
      if (cut) explain(cut->path, cut->sides, cut->is_known ? "" : hint());
    };
    explain_cut(find_fleet_cut(input_.nodes, rates_of(table_), ScreenLimits{}.link_loss));
    explain_cut(find_cut(input_.nodes, paths_, pairs));
    return over;
  }

  [[nodiscard]] std::string hint() const {
    return input_.levels == nullptr ? ": an uplink? give --levels" : ": check --levels";
  }

  /// Of most of the fleet it is the fleet, and no node stands out. `explained`: paths have others.
  Blame blame_by_bounds(const std::vector<JudgedPair>& pairs, bool explained) {
    const std::size_t nodes = input_.nodes.size();
    Blame blame = blame_of(nodes, pairs);
    point_.none_stands_out = nodes > 2 && is_of_fleet(blame, nodes, pairs);
    if (point_.none_stands_out) {
      if (explained || any_has(pairs, false, &JudgedPair::low)) {
        fleet_text_ =
            fmt::format("{} of {} nodes are low: the fleet, not a node", blame.nodes.size(), nodes);
      }
      return {};
    }
    return blame;
  }

  /// Beyond the bound on the fast side, as neither of its nodes is.
  [[nodiscard]] bool is_too_good(const NumberPair& pair, double median) const {
    const Reference& reference = references_[pair.first];
    if (!reference.error.empty()) return false;
    const double ratio = as_rate(median, rule_.metric) / reference.value;
    if (miss_of(rule_.bounds, ratio).outcome != Outcome::Fail || is_slow(ratio)) return false;
    return point_.rows[pair.first].decided_by != DecidedBy::TooGood &&
           point_.rows[pair.second].decided_by != DecidedBy::TooGood;
  }

  void judge_nodes_by_bounds(const Blame& blame, const std::set<NumberPair>& over,
                             const std::set<NumberPair>& links) {
    std::vector<const BlamedNode*> blamed(input_.nodes.size(), nullptr);
    for (const BlamedNode& node : blame.nodes) blamed[node.node] = &node;
    const auto is_own = [&](const MeasuredPair& pair, std::size_t partner) {
      return blamed[partner] == nullptr && !over.contains(pair.nodes) &&
             !links.contains(pair.nodes);
    };
    const std::vector<Values> all = node_rates([](const auto&, std::size_t) { return true; });
    const std::vector<Values> own = node_rates(is_own);
    has_value_ = mapped<bool>(all, [](const Values& values) { return !values.empty(); });
    point_.to_repeat.has_value = has_value_;
    for (const BlamedNode& node : blame.nodes) point_.to_repeat.has_value[node.node] = false;
    add_errors();
    for (std::size_t node = 0; node < all.size(); ++node) {
      judge_node_by_bounds(node, blamed[node], all[node], own[node]);
    }
  }

  /// By the rates that are its own, of all that it has; blamed or not.
  void judge_node_by_bounds(std::size_t node, const BlamedNode* blamed, const Values& all,
                            const Values& own) {
    CheckedRow& row = point_.rows[node];
    const bool none = own.empty() && has_value_[node];
    take(row, none ? all : own);
    if (none && !row.decided) {
      decide(row, Outcome::Inconclusive,
             "its pairs are low, and what they have in common is not this node");
    }
    apply_reference(row, references_[node]);
    qualify(row, rule_, input_.specification);
    if (row.is_low() && !fleet_text_.empty()) row.reason = fleet_text_ + ": " + row.reason;
    if (blamed != nullptr) add_low_pairs(row, blamed->count.low, blamed->count.all, "");
  }

  /// With as many launches as any row needs; until then it is to be measured again.
  void judge_link_by_bounds(const NumberPair& link, const Values& rates) {
    CheckedRow& row = pair_row(link);
    take(row, rates);
    if (row.decided_by == DecidedBy::TooFewLaunches) {
      point_.to_repeat.links.push_back({.first = link.first, .second = link.second});
    }
    apply_reference(row, references_[link.first]);
    qualify(row, rule_, input_.specification);
    if (row.outcome == Outcome::Fail) row.reason = "only this pair: " + row.reason;
  }

  void add_path_by_bounds(const UnitFinding& path, const std::set<NumberPair>& low,
                          const std::string& hint) {
    CheckedRow& row = path_row(path, hint);
    std::map<std::size_t, Values> launches;
    for (const MeasuredPair& pair : table_.pairs) {
      if (low.contains(pair.nodes)) launches[pair.launch].push_back(rate(pair));
    }
    take(row, mapped<double>(launches, [](const auto& one) { return stats::median(one.second); }));
    apply_reference(row, references_.front());
    qualify(row, rule_, input_.specification);
    add_low_pairs(row, path.count.low, path.count.all, hint.empty() ? " over it" : "");
    row.reason += hint;
  }

  /// A path of the fabric; one that no level has is named by its ends.
  CheckedRow& path_row(const UnitFinding& path, const std::string& hint) {
    return extra_row({.name = hint.empty() ? path_name(path) : cut_name(path)});
  }

  // ---- by the fleet ----------------------------------------------------------------------------

  [[nodiscard]] ScreenLimits limits() const {
    const FleetPlan plan = fleet_plan_of(input_.specification, input_.nodes.size());
    ScreenLimits limits = plan.limits;
    limits.node_loss = 1 - *rule_.bounds.fail_below;
    limits.link_loss = std::max(limits.link_loss, limits.node_loss);
    limits.alarms /= static_cast<double>(plan.tests);
    return limits;
  }

  [[nodiscard]] FleetRates rates_of(const PairTable& table) const {
    FleetRates rates{.paths = paths_, .launches = table.launches};
    for (const MeasuredPair& pair : table.pairs) {
      rates.pairs.push_back({.first = pair.nodes.first,
                             .second = pair.nodes.second,
                             .launch = pair.launch,
                             .log_rate = std::log(rate(pair)),
                             .round = pair.round});
    }
    return rates;
  }

  void judge_by_fleet() {
    const std::optional<UnitFinding> cut = cut_of_fleet();
    Screening screening = screen(rates_of(table_), limits());
    screening.has_value.resize(input_.nodes.size());
    screening.launch_effects.resize(input_.nodes.size());
    has_value_ = screening.has_value;
    add_errors();
    const double center =
        screening.centers.empty() ? 0 : std::exp(stats::median(screening.centers));
    for (std::size_t node = 0; node < point_.rows.size(); ++node) {
      point_.rows[node].sample.is_ranked = true;
      take(point_.rows[node], mapped<double>(screening.launch_effects[node], [&](double effect) {
             return center * std::exp(effect);
           }));
    }
    CheckedRow& fleet =
        point_.fleet.emplace(blank_row(rule_, {.name = std::string(kFleet), .nodes = input_.nodes},
                                       keys_.front().collective, keys_.front().size));
    fleet.bounds = {};
    fleet.sample.flaws = table_.common.flaws;
    fleet.attempts = table_.common.attempts;
    const auto valued = static_cast<std::size_t>(std::ranges::count(has_value_, true));
    if (valued < kFewestCompared) {
      return decide_too_few(fleet, fmt::format("data of {} only; a fleet comparison needs {}",
                                               counted(valued, "node"), kFewestCompared));
    }
    const Reference reference{.value = center, .kind = "fleet median"};
    fleet.value = reference.value;
    fleet.reference_kind = reference.kind;
    fleet.outcome = Outcome::Pass;
    qualify(fleet, rule_, input_.specification);
    judge_suspects(screening, reference);
    if (cut) {
      judge_found(path_row(*cut, hint()), cut->log_effect, reference, Outcome::Inconclusive,
                  fmt::format("{} of {} links are low", cut->count.low, cut->count.all), hint());
    }
    point_.to_repeat = std::move(screening);
  }

  /// Two parts of a fleet without levels that are low with each other, which no comparison of nodes
  /// shows: they become its levels.
  [[nodiscard]] std::optional<UnitFinding> cut_of_fleet() {
    if (input_.levels != nullptr) return {};
    auto cut = find_fleet_cut(input_.nodes, rates_of(table_), limits().link_loss);
    if (!cut) return {};
    paths_ = std::move(cut->sides);
    return std::move(cut->path);
  }

  void decide_too_few(CheckedRow& fleet, const std::string& why) {
    for (CheckedRow& row : point_.rows) {
      if (!row.decided) decide(row, Outcome::Inconclusive, why);
    }
    fleet.outcome = Outcome::Inconclusive;
    fleet.reason = why;
  }

  void judge_suspects(const Screening& screening, const Reference& reference) {
    const bool measured_again = !again_.pairs.empty();
    const Confirmation confirmed =
        measured_again ? confirm_suspects(screening, rates_of(again_), limits())
                       : Confirmation{.units = screening.units, .links = unexplained(screening)};
    for (std::size_t node = 0; node < point_.rows.size(); ++node) {
      CheckedRow& row = point_.rows[node];
      apply_reference(row, reference);
      if (!row.decided) {
        judge_suspect(row, find_by(screening.nodes, node, &NodeFinding::node),
                      find_by(confirmed.nodes, node, &NodeFinding::node),
                      std::ranges::count(confirmed.cleared, node) > 0);
      }
      qualify(row, rule_, input_.specification);
    }
    const Outcome outcome = measured_again ? Outcome::Fail : Outcome::Inconclusive;
    const std::string more = measured_again ? ", and again" : ", not measured again";
    for (const UnitFinding& unit : confirmed.units) {
      judge_found(path_row(unit, ""), unit.log_effect, reference, outcome,
                  fmt::format("{} of {} pairs over it low", unit.count.low, unit.count.all), more);
    }
    for (const LinkFinding& link : confirmed.links) {
      judge_found(pair_row(pair_of(link.first, link.second)), link.log_effect, reference,
                  link.blamed ? outcome : Outcome::Inconclusive, "only this pair is low",
                  more + (link.blamed ? "" : "; too few good nodes are left to compare links"));
    }
  }

  static std::vector<LinkFinding> unexplained(const Screening& screening) {
    return filtered(screening.links, [&](const LinkFinding& link) {
      return find_by(screening.nodes, link.first, &NodeFinding::node) == nullptr &&
             find_by(screening.nodes, link.second, &NodeFinding::node) == nullptr;
    });
  }

  void judge_found(CheckedRow& row, double log_effect, const Reference& reference, Outcome outcome,
                   const std::string& what, const std::string& more) {
    row.value = reference.value * std::exp(log_effect);
    row.reference = reference.value;
    row.reference_kind = reference.kind;
    row.ratio = *row.value / reference.value;
    row.outcome = outcome;
    row.reason = fmt::format("{}: {}{}", what, low_text(log_effect), more);
    qualify(row, rule_, input_.specification);
  }

  std::span<const SampleKey> keys_;
  const Rule& rule_;
  const JudgeInput& input_;
  const ReferenceOf& reference_of_;
  std::vector<NodePath> paths_;
  PairTable table_;
  PairTable again_;
  std::vector<NodeLaunches> launches_;   ///< of each node
  std::vector<Reference> references_{};  ///< of each node, by bounds
  std::string fleet_text_{};             ///< that it is the fleet; else empty
  std::vector<bool> has_value_{};
  PointResult point_{};
};

}  // namespace

PointResult judge_pairwise(std::span<const SampleKey> keys, const JudgeInput& input,
                           const ReferenceOf& reference_of) {
  return PairwiseJudge(keys, input, reference_of).judge();
}

}  // namespace busbar::judge
