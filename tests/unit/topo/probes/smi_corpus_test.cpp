// SPDX-License-Identifier: BSD-3-Clause
// The parsers of nvidia-smi's answers on captures from real machines, whole and spoilt.

#include "tests/unit/support/captures.hpp"
#include "topo/probes/nvidia_smi.hpp"

namespace busbar::topo {
namespace {

/// Those whose text is cut short or garbled, as the collection's notes say; some may be absent.
const std::set<std::string> kDamaged = {"a100_cloud_phb_overwritten_8_1",
                                        "a800_nv8_8_1",
                                        "b200_degraded_8_1",
                                        "b200_hgx_16nic_8_1",
                                        "dgx1p_8_1",
                                        "dgx2_16_1",
                                        "dgx_a100_nic_8_1",
                                        "flx42_mlx4_8_1",
                                        "gooxi_5plus3_8_1",
                                        "gpu8_genoa_pix_8_1",
                                        "gpu8_pix_node_8_1",
                                        "h20_deepep_sys_8_1",
                                        "h20_h800_4numa_8_1",
                                        "p32_a100_amd_8_2",
                                        "vllm_numa_na_8_1"};

template <typename Action>
std::string refusal(Action action) {
  return test::failure_of(action).message;
}

std::string replaced(const std::string& text, const std::string& what, const std::string& with) {
  std::string out = text;
  for (std::size_t at = 0; (at = out.find(what, at)) != std::string::npos; at += with.size())
    out.replace(at, what.size(), with);
  return out;
}

/// As a terminal shows it.
std::string blanks_for_tabs(const std::string& text) {
  std::string out;
  std::size_t column = 0;
  for (const char letter : text) {
    const std::size_t width = letter == '\t' ? 8 - column % 8 : 1;
    out += letter == '\t' ? std::string(width, ' ') : std::string(1, letter);
    column = letter == '\n' ? 0 : column + width;
  }
  return out;
}

/// What copying does to a text without damaging it.
std::vector<std::string> disguises_of(const std::string& text) {
  return {
      blanks_for_tabs(text),
      replaced(text, "\n", "\r\n"),
      replaced(text, "GPU0\t", "\x1b[4mGPU0\x1b[0m\t"),
      replaced(text, "GPU0\t", "[4mGPU0[0m\t"),
      "# " + replaced(text, "\n", "\n# "),
      "   * " + replaced(text, "\n", "\n   * "),
      "> " + replaced(text, "\n", "\n> "),
      "| " + replaced(text, "\n", "\n| "),
      "      " + replaced(text, "\n", "\n      "),
      "root@host:~# nvidia-smi topo -m\n" + replaced(text, "\nGPU", "\n\nGPU") + "\nroot@host:~#"};
}

/// The text without its last lines, for each of its lines.
std::vector<std::string> stumps_of(const std::string& text) {
  std::vector<std::string> stumps;
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; ++at)
    stumps.push_back(text.substr(0, at));
  return stumps;
}

template <typename Cells>
void expect_symmetric(const Cells& cells, const std::string& name) {
  for (std::size_t row = 0; row < cells.size(); ++row) {
    ASSERT_EQ(cells[row].size(), cells.size()) << name;
    for (std::size_t column = 0; column < row; ++column)
      ASSERT_EQ(cells[row][column], cells[column][row]) << name;
  }
}

/// The captures of a folder by name.
class SmiCorpus : public testing::Test {
 protected:
  explicit SmiCorpus(const std::string& folder) : folder_(test::captures(folder)) {}
  void SetUp() override {
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (entry.path().extension() != ".txt") continue;
      corpus_[entry.path().stem()] = test::text_of(entry.path());
    }
    ASSERT_FALSE(corpus_.empty()) << folder_;
  }

  std::filesystem::path folder_;
  std::map<std::string, std::string> corpus_{};
};

struct MatrixCorpus : SmiCorpus {
  MatrixCorpus() : SmiCorpus("nvidia_smi_topo_m") {}
};
struct P2pCorpus : SmiCorpus {
  P2pCorpus() : SmiCorpus("nvidia_smi_topo_p2p") {}
};
struct NvlinkCorpus : SmiCorpus {
  NvlinkCorpus() : SmiCorpus("nvidia_smi_nvlink") {}
};

TEST_F(MatrixCorpus, IsReadButForTheDamagedOnes) {
  for (const auto& [name, text] : corpus_) {
    SmiMatrix matrix;
    const std::string what =
        refusal([&, &text = text, &name = name] { matrix = parse_smi_matrix(text, name); });
    EXPECT_EQ(!what.empty(), kDamaged.contains(name)) << name << ": " << what;
    if (!what.empty()) {
      EXPECT_TRUE(what.starts_with(name + ":")) << what;
      continue;
    }
    // Each name ends with its number of GPUs and a running number.
    const std::string count = name.substr(0, name.rfind('_'));
    EXPECT_EQ(matrix.gpus.size(), std::stoul(count.substr(count.rfind('_') + 1))) << name;
    expect_symmetric(matrix.cells, name);
  }
}

TEST_F(MatrixCorpus, IsTheSameInEveryDisguise) {
  for (const auto& [name, text] : corpus_) {
    if (kDamaged.contains(name)) continue;
    const SmiMatrix plain = parse_smi_matrix(text, name);
    for (const std::string& disguise : disguises_of(text)) {
      SmiMatrix matrix;
      const std::string what = refusal([&] { matrix = parse_smi_matrix(disguise, "disguise"); });
      EXPECT_EQ(what, "") << name;
      EXPECT_EQ(matrix.cells, plain.cells) << name << "\n" << disguise;
      EXPECT_EQ(matrix.pcie_only, plain.pcie_only) << name;
      EXPECT_EQ(matrix.nic_names, plain.nic_names) << name;
      if (text.find('\t') != std::string::npos && disguise.find('\t') == std::string::npos)
        continue;
      EXPECT_EQ(matrix.cpu_affinity, plain.cpu_affinity) << name << "\n" << disguise;
      EXPECT_EQ(matrix.numa_affinity, plain.numa_affinity) << name << "\n" << disguise;
    }
  }
}

TEST_F(MatrixCorpus, IsWholeOrRefusedWhereverItIsCut) {
  for (const auto& [name, text] : corpus_) {
    if (kDamaged.contains(name)) continue;
    const SmiMatrix whole = parse_smi_matrix(text, name);
    for (const std::string& stump : stumps_of(text)) {
      SmiMatrix matrix;
      const auto read = [&] { matrix = parse_smi_matrix(stump, "stump"); };
      if (!refusal(read).empty()) continue;
      EXPECT_EQ(matrix.gpus, whole.gpus) << name;
      expect_symmetric(matrix.cells, name);
      for (std::size_t gpu = 0; gpu < whole.gpus.size(); ++gpu)
        EXPECT_EQ(matrix.cells[gpu], whole.cells[gpu]) << name;
    }
  }
}

TEST_F(P2pCorpus, IsReadInEveryDisguiseAndRefusedWhereItIsCut) {
  for (const auto& [name, text] : corpus_) {
    const P2pMatrix plain = parse_smi_p2p(text, name);
    expect_symmetric(plain.cells, name);
    for (const std::string& disguise : disguises_of(text))
      EXPECT_EQ(parse_smi_p2p(disguise, name).cells, plain.cells) << name << "\n" << disguise;
    for (const std::string& stump : stumps_of(text)) {
      const auto read = [&] { EXPECT_EQ(parse_smi_p2p(stump, "f").cells, plain.cells) << stump; };
      const bool whole = stump.find("GPU" + std::to_string(plain.gpus.back()), stump.find('\n')) !=
                         std::string::npos;
      EXPECT_EQ(refusal(read).empty(), whole) << name << "\n" << stump;
    }
  }
}

TEST_F(NvlinkCorpus, IsReadOrDiagnosed) {
  for (const auto& [name, text] : corpus_) {
    const std::string status = refusal([&, &text = text] { (void)parse_nvlink_status(text, "f"); });
    if (name.find("snip") != std::string::npos || name.find("lspci") != std::string::npos) {
      EXPECT_TRUE(status.starts_with("f:")) << name;
    } else if (name.find("_R_") != std::string::npos) {
      EXPECT_NE(status.find("nvlink -R"), std::string::npos) << name << status;
    } else {
      EXPECT_EQ(status, "") << name;
    }
  }
}

TEST_F(NvlinkCorpus, NeverGetsOtherSpeedsFromACutText) {
  for (const auto& [name, text] : corpus_) {
    if (!refusal([&, &text = text] { (void)parse_nvlink_status(text, "f"); }).empty()) continue;
    std::set<double> speeds;
    for (const GpuFacts& gpu : parse_nvlink_status(text, "f"))
      speeds.insert(gpu.links.begin(), gpu.links.end());
    for (std::size_t size = 0; size < text.size(); size += 3) {
      std::vector<GpuFacts> status;
      (void)refusal([&, &text = text] { status = parse_nvlink_status(text.substr(0, size), "f"); });
      for (const GpuFacts& gpu : status)
        for (const double GBps : gpu.links) EXPECT_TRUE(speeds.contains(GBps)) << name;
    }
  }
}

}  // namespace
}  // namespace busbar::topo
