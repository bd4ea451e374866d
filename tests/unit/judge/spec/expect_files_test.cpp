// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <set>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judge/run_facts.hpp"
#include "judge/spec/lint.hpp"
#include "tests/unit/judge/spec/specification_text.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::judge {
namespace {

std::string path_of(const std::string& system) { return "results/expect/" + system + ".toml"; }

TEST(ExpectFiles, EachIsOfASystem) {
  std::set<std::string> systems;
  for (const topo::SystemSummary& system : topo::built_in_systems()) systems.insert(system.name);
  for (const auto& entry : std::filesystem::directory_iterator("results/expect")) {
    if (entry.path().extension() != ".toml") continue;
    EXPECT_TRUE(systems.contains(entry.path().stem())) << entry.path();
  }
}

TEST(ExpectFiles, AreSoundInEachOfTheirThreeProfiles) {
  for (const topo::SystemSummary& system : topo::built_in_systems()) {
    SCOPED_TRACE(system.name);
    if (!std::filesystem::exists(path_of(system.name))) continue;  // judged as what it is based on
    for (const std::string profile : {"quick", "standard"}) {
      EXPECT_EQ(load(path_of(system.name), profile).profile, profile);
    }
    // Reading checks every profile; full has every rule: what it does not refuse, no profile does.
    const Specification full = load(path_of(system.name), "full");
    EXPECT_EQ(full.profile, "full");
    EXPECT_EQ(full.system.name, system.name);
    EXPECT_EQ(full.ceiling.system, system.name);
    const auto findings = lint(full, nullptr, "2026-11-21");
    EXPECT_FALSE(is_refused(findings)) << lint_text(full.file, findings);
    for (const Expectation& rule : full.expectations) EXPECT_FALSE(rule.source.empty()) << rule.id;
    if (!full.system.fingerprint.contains("gpu")) continue;
    for (const std::string& name : full.system.fingerprint.at("gpu")) {
      EXPECT_TRUE(name.starts_with("NVIDIA ") || name.starts_with("Tesla ")) << name;
    }
  }
  EXPECT_EQ(load(path_of("dgx-1v"), "").profile, "standard");
}

TEST(ExpectFiles, AreNotRefusedWithTheSystemsOwnNodesEither) {
  for (const auto& [name, nodes] :
       {std::pair<std::string, int>{"gb200-nvl72", 18}, {"dgx-h100", 10}, {"knl-aries", 8}}) {
    Specification full = load(path_of(name), "full");
    for (int i = 0; i < nodes; ++i) full.system.nodes.push_back("n" + std::to_string(i));
    const auto findings = lint(full, nullptr, "2026-11-21");
    EXPECT_FALSE(is_refused(findings)) << lint_text(full.file, findings);
  }
}

TEST(ExpectFiles, WantGpusByTheirWholeNames) {
  for (const auto& [system, gpu, wanted] : {std::tuple{"dgx-h100", "NVIDIA H100 80GB HBM3", true},
                                            {"dgx-h100", "NVIDIA H100 PCIe", false},
                                            {"hgx-b200", "NVIDIA GB200", false},
                                            {"dgx-a100", "NVIDIA A100 80GB PCIe", false},
                                            {"dgx-a100", "A100-SXM4-40GB", true},
                                            {"rtx-3090-pair", "GeForce RTX 3090", true}}) {
    const auto names = load(path_of(system), "full").system.fingerprint.at("gpu");
    EXPECT_EQ(matches_fact("gpu", gpu, names), wanted) << system << ' ' << gpu;
  }
}

}  // namespace
}  // namespace busbar::judge
