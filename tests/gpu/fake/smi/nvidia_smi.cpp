// SPDX-License-Identifier: BSD-3-Clause
// The nvidia-smi of the fake GPU machine: the queries that busbar makes. FAKE_GPU_LINKS is a file
// with a row of `topo -m` for each GPU; without it every link is SYS.
#include <cstdio>
#include <fstream>
#include <numeric>
#include <stdlib.h>

#include "tests/gpu/fake/cudart/machine.hpp"

namespace {

using Row = std::vector<std::string>;
using Rows = std::vector<Row>;

Rows read_links(std::size_t gpus) {
  Rows rows(gpus, Row(gpus, "SYS"));
  for (std::size_t i = 0; i < gpus; ++i) rows[i][i] = std::string(1, 'X');
  const char* file = ::getenv("FAKE_GPU_LINKS");
  if (file == nullptr) return rows;
  std::ifstream in(file);
  for (Row& row : rows) {
    for (std::string& cell : row) {
      if (!(in >> cell)) fake_gpu::die(std::string("FAKE_GPU_LINKS: too few words in ") + file);
    }
  }
  return rows;
}

/// Instances of one GPU are one row.
std::vector<fake_gpu::Gpu> whole_gpus() {
  std::vector<fake_gpu::Gpu> gpus;
  for (fake_gpu::Gpu gpu : fake_gpu::machine().installed) {
    if (!gpus.empty() && gpus.back().pci == gpu.pci) continue;
    gpu.mig = -1;
    gpus.push_back(gpu);
  }
  return gpus;
}

void print_matrix(const Rows& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) std::printf("\tGPU%zu", i);
  std::printf("\tCPU Affinity\tNUMA Affinity\n");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::printf("GPU%zu", i);
    for (const std::string& cell : rows[i]) std::printf("\t%s", cell == "X" ? " X " : cell.c_str());
    std::printf("\t0-1\t%d\n", i < (rows.size() + 1) / 2 ? 0 : 1);
  }
  std::printf(
      "\nLegend:\n\n  X    = Self\n  NV#  = Connection traversing a bonded set of # NVLinks\n");
}

void print_p2p(std::size_t gpus) {
  for (std::size_t i = 0; i < gpus; ++i) std::printf("%sGPU%zu", i == 0 ? " \t" : "\t", i);
  std::printf("\n");
  for (std::size_t i = 0; i < gpus; ++i) {
    std::printf(" GPU%zu", i);
    for (std::size_t j = 0; j < gpus; ++j) std::printf("\t%s", i == j ? "X" : "OK");
    std::printf("\n");
  }
}

int links_of(const Row& row) {
  return std::accumulate(row.begin(), row.end(), 0, [](int sum, const std::string& cell) {
    return cell.rfind("NV", 0) == 0 ? sum + std::atoi(cell.c_str() + 2) : sum;
  });
}

void print_gpu(std::size_t i, const fake_gpu::Gpu& gpu) {
  std::printf("GPU %zu: %s (UUID: %s)\n", i, gpu.name.c_str(), gpu.uuid_text().c_str());
}

void print_status(const std::vector<fake_gpu::Gpu>& gpus, const Rows& rows) {
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (links_of(rows[i]) == 0) continue;
    print_gpu(i, gpus[i]);
    for (int link = 0; link < links_of(rows[i]); ++link)
      std::printf("\t Link %d: 25.781 GB/s\n", link);
  }
}

void print_query(const std::vector<fake_gpu::Gpu>& gpus) {
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    std::printf("%zu, %s, %s, 0000%s, 3, 16, [N/A]\n", i, gpus[i].uuid_text().c_str(),
                gpus[i].name.c_str(), gpus[i].pci.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<fake_gpu::Gpu> gpus = whole_gpus();
  const Rows rows = read_links(gpus.size());
  std::string words;
  for (int i = 1; i < argc; ++i) {
    if (i > 1) words.push_back(' ');
    words.append(argv[i]);
  }
  if (words == "topo -m")
    print_matrix(rows);
  else if (words.rfind("topo -p2p", 0) == 0)
    print_p2p(gpus.size());
  else if (words == "-L")
    for (std::size_t i = 0; i < gpus.size(); ++i) print_gpu(i, gpus[i]);
  else if (words == "nvlink -s")
    print_status(gpus, rows);
  else if (words.rfind("--query-gpu=", 0) == 0)
    print_query(gpus);
  else
    return 2;
  return 0;
}
