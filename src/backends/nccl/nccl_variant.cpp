// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/nccl_variant.hpp"

#include <array>
#include <cstdlib>

#include "base/lists.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace busbar {
namespace {

/// A setting that --vary may name; no members: the algorithm.
struct NcclSetting {
  std::string_view name;
  const char* variable;  ///< that has the last word
  int since;             ///< version whose communicators have it
  int NcclConfig::*of_communicator = nullptr;
  int NcclCallConfig::*of_call = nullptr;
};

constexpr std::array kNcclSettings{
    NcclSetting{"algorithm", "NCCL_ALGO", kNcclCallConfigs},
    NcclSetting{"min_ctas", "NCCL_MIN_CTAS", 21700, &NcclConfig::min_ctas,
                &NcclCallConfig::min_ctas},
    NcclSetting{"max_ctas", "NCCL_MAX_CTAS", 21700, &NcclConfig::max_ctas,
                &NcclCallConfig::max_ctas},
    NcclSetting{"cga_cluster_size", "NCCL_CGA_CLUSTER_SIZE", 21700, &NcclConfig::cga_cluster_size,
                &NcclCallConfig::cga_cluster_size},
    NcclSetting{"nvls_ctas", "NCCL_NVLS_NCHANNELS", kNcclWindows, &NcclConfig::nvls_ctas,
                &NcclCallConfig::nvls_ctas},
    NcclSetting{"cta_policy", "NCCL_CTA_POLICY", kNcclWindows, &NcclConfig::cta_policy,
                &NcclCallConfig::cta_policy}};

}  // namespace

std::string nccl_setting_names() {
  return join_each(kNcclSettings, ", ", [](const NcclSetting& each) { return each.name; });
}

bool nccl_configures_calls() {
  return nccl_version() >= kNcclCallConfigs && nccl().allreduce_config;
}

std::optional<std::vector<NcclVariant>> nccl_variants(const Vary& vary, const NcclConfig& config) {
  const NcclSetting* setting = find_by(kNcclSettings, vary.name, &NcclSetting::name);
  if (setting == nullptr) return std::nullopt;
  const std::string option = "--vary " + vary.name;
  if (nccl_version() < setting->since) {
    throw usage_error(newer_nccl_text(option + ": it", setting->since));
  }
  if (std::getenv(setting->variable) != nullptr) {
    throw usage_error("{}: {} would have the last word; unset it", option, setting->variable);
  }
  std::vector<NcclVariant> variants;
  for (const std::string& value : vary.values) {
    NcclVariant& variant =
        variants.emplace_back(NcclVariant{.value = value, .communicator = config});
    variant.is_default = value == kDefaultValue;
    if (variant.is_default || setting->of_call == nullptr) continue;
    constexpr int kMost = 1024;
    const auto number = static_cast<int>(parse_integer(option, value, 0, kMost));
    variant.communicator.*setting->of_communicator = number;
    variant.call.*setting->of_call = number;
  }
  for (NcclVariant& variant : variants) {  // none moves any more
    const bool names_algorithm = setting->of_call == nullptr && !variant.is_default;
    if (names_algorithm) variant.call.algorithm = variant.value.c_str();
  }
  return variants;
}

}  // namespace busbar
