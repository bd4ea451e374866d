// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "study/expect/expect.hpp"

namespace busbar::study {
namespace {

/// "48 to 69", or one figure where both are as good as equal.
std::string range_text(const topo::BandwidthRange& range) {
  const std::string low = figure_text(range.low);
  const std::string high = figure_text(range.high);
  return range.high < range.low * 1.02 ? high : low + " to " + high;
}

std::string published_what(const PublishedRate& rate) {
  std::vector<std::string> parts{rate.source};
  if (!rate.instance.empty()) parts.push_back(rate.instance);
  if (rate.size) parts.push_back(format_bytes(*rate.size));
  if (rate.in_place) parts.emplace_back(*rate.in_place ? "in place" : "out of place");
  if (!rate.condition.empty()) parts.push_back(rate.condition);
  return join(parts, ", ");
}

/// What is known of the prediction's error.
std::string prediction_error_text(const ExpectRequest& request, const Answer& expected) {
  const std::vector<topo::Medium>& media = request.machine.host.media;
  const bool has_xgmi = any_has(media, topo::LinkKind::Xgmi, &topo::Medium::kind);
  if (has_xgmi) return "; by NCCL's times, not RCCL's (docs/simulation.md)";
  const bool has_gpus = topo::device(request.machine.host, 0).kind == topo::NodeKind::Gpu;
  if (!has_gpus) return "";
  if (expected.checking_logs == 0) return "; checked by no published log of this kind of machine";
  if (expected.checking_logs == 1) return "; checked by one published log of this kind of machine";
  return fmt::format("; median error {} of published logs (docs/simulation.md)",
                     request.size >= kMiB ? "10 %" : "12 %");
}

/// What a user may have taken for bus bandwidth, if it would then be as expected.
std::string reading_note(const ExpectRequest& request, const Answer& expected,
                         std::string_view what, double factor) {
  const double as_busbw = *request.measured_GBps * factor;
  const double share = as_busbw / expected.reference_GBps.value_or(INFINITY);
  const double least = expected.least_share;
  if (std::abs(factor - 1) < 0.05 || share < least || share > 1 / least) return "";
  return fmt::format("if {} is {}, the bus bandwidth is {} (times {:.4g}), as expected\n",
                     figure_text(*request.measured_GBps), what, figure_text(as_busbw), factor);
}

std::string causes_text(const Answer& expected, const std::string& gpudirect) {
  Table fitting{.columns = {"cause that fits", "how often", "GB/s then", "confirm by"}};
  std::vector<std::string> others;
  for (const CauseResult& each : expected.causes) {
    if (each.fits) {
      fitting.rows.push_back({std::string(each.cause->text),
                              std::string(name(each.cause->frequency)), range_text(each.busbw_GBps),
                              std::string(each.cause->confirm)});
    } else {
      others.push_back(fmt::format("  {} ({})\n", each.cause->text, range_text(each.busbw_GBps)));
    }
  }
  std::string text;
  if (!fitting.rows.empty()) text += '\n' + plain_table(fitting);
  if (fitting.rows.empty()) text += "\nno known cause fits\n";
  if (expected.nodes > 1 && !gpudirect.empty()) {
    text += "\nGPUDirect RDMA is used: " + gpudirect + '\n';
  }
  if (!others.empty()) text += "\nwould leave another bandwidth\n" + join(others, "");
  return text;
}

std::string outcome_text(const ExpectRequest& request, const Answer& expected) {
  const auto note = [&](std::string_view what, double factor) {
    return reading_note(request, expected, what, factor);
  };
  if (expected.grade == Grade::AsExpected) return "";
  if (expected.grade == Grade::AboveBound) {
    return (expected.assumptions.empty()
                ? "\nmore than the links allow: another unit, number of GPUs or nodes, or machine\n"
                : "\nmore than the links allow, if what is assumed of them holds\n") +
           note("in Gb/s", 1.0 / 8) + note("the sum of both directions", 1.0 / 2);
  }
  const double factor = request.collective->bus_factor(request.ranks);
  return (request.is_of_file ? "" : note("algbw", factor)) +
         causes_text(expected, request.gpudirect);
}

Json rate_or_null(std::optional<double> GBps) {
  return GBps ? Json(rounded(*GBps)) : Json(nullptr);
}

Json published_json(const std::vector<PublishedRate>& rates) {
  return json_array(rates, [](const PublishedRate& rate) {
    return Json{{"busbw_GBps", *rate.busbw_GBps},
                {"evidence", std::string(name(rate.evidence))},
                {"instance", rate.instance},
                {"size_bytes", json_or_null(rate.size)},
                {"in_place", json_or_null(rate.in_place)},
                {"source", rate.source},
                {"condition", rate.condition}};
  });
}

}  // namespace

std::string verdict_text(const Answer& expected, double measured) {
  std::string text(name(expected.grade));
  if (expected.reference == ReferenceKind::Published) {
    text = fmt::format(
        "as published ({}); the prediction of {} was never checked for this kind of machine",
        figure_text(*expected.reference_GBps), figure_text(expected.predicted_GBps.value_or(0)));
  } else if (expected.reference_GBps) {
    const bool is_unchecked =
        expected.reference == ReferenceKind::Prediction && expected.checking_logs == 0;
    // Never more than it is: 0.849 is not 0.85.
    const double share = std::floor(measured / *expected.reference_GBps * 100) / 100;
    text = fmt::format("{:.{}f} of {}{}: {}", share, share < 100 ? 2 : 0, name(expected.reference),
                       is_unchecked ? ", never checked for this kind of machine" : "", text);
  }
  if (!expected.missed_floors.empty()) {
    text += fmt::format(", below {} of {} operators' floors", expected.missed_floors.size(),
                        expected.floors.size());
  }
  return text;
}

Table figures_table(const ExpectRequest& request, const Answer& expected) {
  Table table{.columns = {"figure", "GB/s", "by"}};
  if (expected.bound_GBps) {
    table.rows.push_back(
        {"bound", (expected.assumptions.empty() ? "" : "~") + figure_text(*expected.bound_GBps),
         "the links, in one direction: " + expected.bottleneck});
  }
  if (expected.predicted_GBps) {
    table.rows.push_back({"predicted", figure_text(*expected.predicted_GBps),
                          expected.algorithm + prediction_error_text(request, expected)});
  }
  for (const PublishedRate& rate : expected.published) {
    table.rows.push_back(
        {std::string(name(rate.evidence)), figure_text(*rate.busbw_GBps), published_what(rate)});
  }
  for (const PublishedRate& rate : expected.floors) {
    table.rows.push_back({"operator's floor", figure_text(*rate.busbw_GBps), published_what(rate)});
  }
  if (request.measured_GBps) {
    table.rows.push_back({"yours", figure_text(*request.measured_GBps),
                          verdict_text(expected, *request.measured_GBps)});
  }
  return table;
}

std::string expect_text(const ExpectRequest& request, const Answer& expected) {
  const topo::Graph& host = request.machine.host;
  const bool has_gpus = topo::device(host, 0).kind == topo::NodeKind::Gpu;
  std::string text =
      fmt::format("{} of {} on {} of {}\n\n", request.collective->title, format_bytes(request.size),
                  counted(request.ranks, has_gpus ? "GPU" : "processor") +
                      (expected.nodes > 1 ? fmt::format(" of {} nodes", expected.nodes) : ""),
                  host.title.empty() ? host.name : fmt::format("{} ({})", host.name, host.title));
  text += plain_table(figures_table(request, expected));
  if (expected.published.empty()) text += "\nno figure of others is known for this set and size\n";
  for (const std::string& assumption : expected.assumptions) {
    text += "assumed for the bound: " + assumption + '\n';
  }
  if (!request.measured_GBps) return text;
  if (!expected.curve_findings.empty()) text += '\n';
  for (const CurveFinding& finding : expected.curve_findings) {
    text += fmt::format("the curve {}\n", finding.text);
  }
  text += outcome_text(request, expected);
  const bool predicted = expected.reference == ReferenceKind::Prediction;
  text += fmt::format(
      "\nas expected from {:g} of what others measured ({:g} of a prediction), too low below {:g} "
      "({:g}): our choice.\nOne launch is not an acceptance test; use busbar accept run\n",
      kAsExpected, predicted ? expected.least_share : kAsPredicted, kLow, kFarBelowPrediction);
  return text;
}

Json expect_json(const ExpectRequest& request, const Answer& expected) {
  const Json causes = json_array(expected.causes, [](const CauseResult& each) {
    return Json{{"id", std::string(each.cause->id)},
                {"busbw_GBps", {rounded(each.busbw_GBps.low), rounded(each.busbw_GBps.high)}},
                {"confirm", std::string(each.cause->confirm)},
                {"frequency", std::string(name(each.cause->frequency))},
                {"fits", each.fits}};
  });
  return {{"system", request.machine.host.name},
          {"collective", std::string(request.collective->name)},
          {"size_bytes", request.size},
          {"ranks", request.ranks},
          {"nodes", expected.nodes},
          {"bound_GBps", rate_or_null(expected.bound_GBps)},
          {"bottleneck", expected.bottleneck},
          {"assumptions", expected.assumptions},
          {"predicted_GBps", rate_or_null(expected.predicted_GBps)},
          {"algorithm", expected.algorithm},
          {"checking_logs", expected.checking_logs},
          {"reference_GBps", rate_or_null(expected.reference_GBps)},
          {"reference", std::string(name(expected.reference))},
          {"published", published_json(expected.published)},
          {"floors", published_json(expected.floors)},
          {"measured_GBps", json_or_null(request.measured_GBps)},
          {"outcome", std::string(name(expected.grade))},
          {"missed_floors", expected.missed_floors.size()},
          {"curve_findings", mapped(expected.curve_findings, &CurveFinding::text)},
          {"causes", causes}};
}

}  // namespace busbar::study
