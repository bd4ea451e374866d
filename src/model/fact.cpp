// SPDX-License-Identifier: BSD-3-Clause
#include "model/fact.hpp"

#include <algorithm>

namespace busbar {
namespace {

constexpr std::array<FactInfo, static_cast<std::size_t>(Fact::Count)> kFacts{{
    {"busbar", "version"},
    {"configuration", "settings that rows depend on; `--resume` needs the same"},
    {"started", "local time"},
    {"command", "as it was typed"},
    {"hosts", "names"},
    {"machine", "as its firmware names it"},
    {"processor", "model"},
    {"kernel", "release"},
    {"library", "and its version"},
    {"library_files", "that were opened"},
    {"mpi", "library that joined the ranks"},
    {"bootstrap", "how they were joined without MPI"},
    {"compiler", "of the program"},
    {"environment", "variables that libraries read"},
    {"timer_cost_ns", "of reading the clock"},
    {"device_set", "devices or cores"},
    {"bound_kind", "kind of links of the bound"},
    {"bound_limit", "its bottleneck"},
    {"gpus_per_node", "of the host, not of the run"},
    {"nics_per_node", "that carry RDMA"},
    {"driver", "version of NVIDIA's"},
    {"nccl_nvls", "yes, no or unknown"},
    {"nccl_gpudirect_rdma", "the same"},
    {"nccl_links", "transports that NCCL took"},
    {"nccl_channels", "their numbers"},
    {"simulated", "yes: predicted, not measured"},
    {"system", "name of its file"},
    {"system_title", "for people"},
    {"system_source", "of its figures"},
    {"algorithm", "of a prediction"},
    {"flows", "between two hosts"},
    {"protocol_source", "of the constants"},
    {"label", "for plots"},
    {"imported_from", "the log"},
    {"tool", "that wrote it"},
    {"devices", "as the log lists them"},
    {"settings", "of the log's run"},
    {"matrix", "of pairs"},
    {"collective_from", "how it was recognized"},
    {"gpu", "names, of the ranks or the log"},
    {"ranks_per_node", "of the rows"},
}};

}  // namespace

const std::array<FactInfo, static_cast<std::size_t>(Fact::Count)>& fact_table() { return kFacts; }

std::string key(Fact fact) { return std::string(kFacts.at(static_cast<std::size_t>(fact)).key); }

std::string fact_key(std::string_view text) {
  if (text == "nccl") return key(Fact::Library);
  if (text == "ngpus") return key(Fact::RanksPerNode);
  std::string name(text);  // of a baseline it may have a device set's id: "driver.my-pairs"
  std::replace(name.begin(),
               name.begin() + static_cast<std::ptrdiff_t>(std::min(name.find('.'), name.size())),
               '-', '_');
  return name;
}

}  // namespace busbar
