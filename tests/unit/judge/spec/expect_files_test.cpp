// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judge/run_facts.hpp"
#include "judge/spec/lint.hpp"
#include "tests/unit/judge/spec/specification_text.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::judge {
namespace {

std::string path_of(const std::string& system) { return "results/expect/" + system + ".toml"; }

TEST(ExpectFiles, ThereIsOneForEverySystemAndNoOther) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator("results/expect")) {
    if (entry.path().extension() == ".toml") ++files;
  }
  EXPECT_EQ(files, topo::built_in_systems().size());
  for (const topo::SystemSummary& system : topo::built_in_systems()) {
    EXPECT_TRUE(std::filesystem::exists(path_of(system.name))) << system.name;
  }
}

TEST(ExpectFiles, AreSoundInEachOfTheirThreeProfiles) {
  for (const topo::SystemSummary& system : topo::built_in_systems()) {
    SCOPED_TRACE(system.name);
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
  const auto gpu = [](const std::string& system) {
    return load(path_of(system), "full").system.fingerprint.at("gpu");
  };
  EXPECT_TRUE(matches_fact("gpu", "NVIDIA H100 80GB HBM3", gpu("dgx-h100")));
  EXPECT_FALSE(matches_fact("gpu", "NVIDIA H100 PCIe", gpu("dgx-h100")));
  EXPECT_FALSE(matches_fact("gpu", "NVIDIA GB200", gpu("hgx-b200")));
  EXPECT_FALSE(matches_fact("gpu", "NVIDIA A100 80GB PCIe", gpu("dgx-a100")));
  EXPECT_TRUE(matches_fact("gpu", "A100-SXM4-40GB", gpu("dgx-a100")));
  EXPECT_TRUE(matches_fact("gpu", "GeForce RTX 3090", gpu("rtx-3090-pair")));
}

}  // namespace
}  // namespace busbar::judge
