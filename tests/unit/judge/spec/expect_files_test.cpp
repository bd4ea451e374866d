// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <filesystem>

#include "judge/spec/lint.hpp"
#include "study/expect/expect.hpp"
#include "tests/unit/judge/spec/specification_text.hpp"
#include "topo/systems/recognize.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::judge {
namespace {

std::string path_of(const std::string& system) { return "results/expect/" + system + ".toml"; }

TEST(ExpectFiles, ThereIsOneForEverySystemAndNoOther) {
  std::set<std::string> systems;
  for (const topo::BuiltInSystem& system : topo::built_in_systems()) systems.insert(system.name());
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("results/expect")) {
    if (entry.path().extension() == ".toml") files.insert(entry.path().stem());
  }
  EXPECT_EQ(files, systems);
}

TEST(ExpectFiles, AreSoundInEachOfTheirThreeProfiles) {
  for (const topo::BuiltInSystem& system : topo::built_in_systems()) {
    SCOPED_TRACE(system.name());
    for (const std::string profile : {"quick", "standard", "full"}) {
      const Specification part = load(path_of(system.name()), profile);
      EXPECT_EQ(part.profile, profile);
      auto findings = lint(part, "2026-11-21");
      // Its source names the finding: one TCP flow was measured, of a network that has more.
      std::erase_if(findings, [&](const LintFinding& finding) {
        return system.name() == "p3dn-x2" && finding.rule == "two-nodes-allreduce";
      });
      EXPECT_THAT(findings, IsEmpty()) << lint_text(part.file, findings);
    }
    // Reading checks every profile; full has every rule: what it does not refuse, no profile does.
    const Specification full = load(path_of(system.name()), "full");
    EXPECT_EQ(full.profile, "full");
    EXPECT_EQ(full.system.name, system.name());
    EXPECT_THAT(full.ceiling.system, testing::AnyOf(system.name(), ""));
    for (const Rule& rule : full.rules) EXPECT_FALSE(rule.source.empty()) << rule.id;
    if (!full.system.fingerprint.contains("gpu")) continue;
    const bool amd = full.system.fingerprint.at("gpu").front().starts_with("AMD ");
    EXPECT_EQ(full.run.backend, amd ? "rccl" : "nccl");
    for (const std::string& name : full.system.fingerprint.at("gpu")) {
      EXPECT_TRUE(name.starts_with("NVIDIA ") || name.starts_with("Tesla ") ||
                  name.starts_with("AMD Instinct "))
          << name;
    }
  }
  EXPECT_EQ(load(path_of("dgx-1v"), "").profile, "standard");
}

TEST(ExpectFiles, AreNotRefusedWithTheSystemsOwnNodesEither) {
  for (const auto& [name, nodes] : {std::pair<std::string, int>{"gb200-nvl72", 18},
                                    {"gb200-nvl72-x2", 32},
                                    {"gb300-nvl72", 18},
                                    {"dgx-h100", 10},
                                    {"hgx-b300", 4},
                                    {"knl-aries", 8}}) {
    Specification full = load(path_of(name), "full");
    for (int i = 0; i < nodes; ++i) full.system.nodes.push_back("n" + std::to_string(i));
    const auto findings = lint(full, "2026-11-21");
    EXPECT_FALSE(is_refused(findings)) << lint_text(full.file, findings);
  }
}

TEST(ExpectFiles, HaveNoFigureThatNobodyPublished) {
  const study::PublishedRates rates = study::kept_published();
  for (const topo::BuiltInSystem& system : topo::built_in_systems()) {
    for (const Rule& rule : load(path_of(system.name()), "full").rules) {
      if (!rule.value) continue;
      const bool time = rule.metric == Metric::Time;
      const bool known =
          std::any_of(rates.begin(), rates.end(), [&](const study::PublishedRate& rate) {
            const auto figure = time ? rate.time_us : rate.busbw_GBps;
            return figure && std::abs(*rule.value / *figure - 1) < 0.003 &&
                   std::find(rule.collectives.begin(), rule.collectives.end(), rate.collective) !=
                       rule.collectives.end();
          });
      EXPECT_TRUE(known) << system.name() << " " << rule.id << " " << *rule.value;
    }
  }
}

TEST(ExpectFiles, HaveNoLimitBelowTheFloorThatItStandsFor) {
  struct Case {
    const char* system;
    const char* rule;
    double fails_GBps;  ///< below this operator's floor
    double warns_GBps;
  };
  for (const Case& c :
       {Case{"dgx-h100", "node-allreduce", 460, 460}, Case{"dgx-h100", "pair-allreduce", 440, 0},
        Case{"a3-highgpu-8g", "pair-allgather", 60, 0}, Case{"hgx-b300", "node-allreduce", 0, 800},
        Case{"hgx-b300", "pair-allreduce", 700, 750},
        Case{"gb300-nvl72", "rack-allreduce", 800, 800},
        Case{"mi355x", "pair-allreduce", 0, 350}}) {
    const auto rules = load(path_of(c.system), "full").rules;
    const auto rule =
        std::find_if(rules.begin(), rules.end(), [&](const Rule& one) { return one.id == c.rule; });
    ASSERT_NE(rule, rules.end()) << c.system << ' ' << c.rule;
    const double value = rule->value.value_or(0);
    EXPECT_GE(value * rule->bounds.fail_below.value_or(0), c.fails_GBps) << c.system << c.rule;
    EXPECT_GE(value * rule->bounds.warn_below.value_or(0), c.warns_GBps) << c.system << c.rule;
  }
}

TEST(ExpectFiles, WantTheGpusByWhichTheirSystemIsRecognized) {
  for (const topo::BuiltInSystem& system : topo::built_in_systems()) {
    const topo::Graph& host = system.machine.host;
    const auto names = host.gpu_names.empty() ? topo::identity_of(host).gpus : host.gpu_names;
    const auto wanted = load(path_of(system.name()), "full").system.fingerprint;
    if (!wanted.contains("gpu")) continue;
    for (const std::string& gpu : wanted.at("gpu")) {
      const auto same = [&](const std::string& name) { return topo::same_gpu(name, gpu); };
      EXPECT_TRUE(std::any_of(names.begin(), names.end(), same)) << system.name() << ": " << gpu;
    }
  }
}

}  // namespace
}  // namespace busbar::judge
