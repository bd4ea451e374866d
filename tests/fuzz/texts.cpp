// SPDX-License-Identifier: BSD-3-Clause
// Readers of texts and files: each is a target of its own, by the name of the program, and gives a
// value that is sound, or an Error of one line.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

#include "format/csv_writer.hpp"
#include "format/timeline_text.hpp"
#include "harness/mix_spec.hpp"
#include "judge/fleet/fabric_file.hpp"
#include "judge/spec/reader.hpp"
#include "machine/host_window.hpp"
#include "study/import/log_reader.hpp"
#include "study/plot/figures.hpp"
#include "topo/probes/amd_smi.hpp"
#include "topo/probes/host_tree.hpp"
#include "topo/probes/nvidia_smi.hpp"
#include "topo/probes/smi_matrix.hpp"
#include "topo/systems/system_file.hpp"

namespace {

using busbar::View;
namespace topo = busbar::topo;

/// A file in memory, which the reader opens by its name.
class MemoryFile {
 public:
  explicit MemoryFile(View text) : number_(::memfd_create("fuzz", 0)) {
    if (number_ < 0 ||
        ::write(number_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      std::abort();
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(number_); }

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }

 private:
  int number_;
};

/// A finding where it does not hold.
void require(bool holds) {
  if (!holds) std::abort();
}

/// A parser of the text "fuzz" may refuse it by that name.
template <typename Parse>
void attempt(const Parse& parse) {
  try {
    parse();
  } catch (const busbar::Error& error) {
    require(View(error.what()).starts_with("fuzz:"));
  }
}

/// As many rows as columns, the same both ways, with an X in the diagonal only.
template <typename Cells>
void require_symmetric(const Cells& cells, std::size_t count) {
  require(cells.size() == count);
  for (std::size_t row = 0; row < count; ++row) {
    require(cells[row].size() == count);
    for (std::size_t column = 0; column < count; ++column) {
      const auto& cell = cells[row][column];
      require(cell == cells[column][row] && (cell == "X") == (row == column));
    }
  }
}

/// Square, symmetric and complete, of these GPUs and so many other devices.
void require_sound(const topo::SmiMatrix& matrix, std::size_t others) {
  const std::size_t gpus = matrix.gpus.size();
  require(gpus > 0);
  require(matrix.cpu_affinity.size() == gpus && matrix.numa_affinity.size() == gpus);
  require_symmetric(matrix.cells, gpus + others);
}

void read_amd_smi(View text) {
  attempt([&] {
    const topo::SmiMatrix matrix = topo::parse_amd_topology(text, "fuzz").matrix.value();
    require_sound(matrix, 0);
    require(matrix.bus_ids.size() == matrix.gpus.size());
  });
  attempt([&] {
    int index = 0;
    for (const auto& gpu : topo::parse_amd_gpus(text, "fuzz")) require(gpu.index == index++);
  });
}

/// What a record says is said again by its row. A file costs a thread, so two rows do.
void read_csv_file(View text) {
  busbar::CsvFile read = busbar::read_csv(MemoryFile(text).path());
  if (read.records.size() > 2) read.records.resize(2);
  for (const busbar::Record& record : read.records) {
    const std::string row = busbar::csv_row(record);
    attempt([&] {  // what was written must be accepted
      const auto again = busbar::read_csv(MemoryFile(busbar::csv_header() + row).path());
      require(again.records.size() == 1 && busbar::csv_row(again.records.front()) == row);
    });
  }
}

void read_fabric(View text) {
  busbar::Words notes;
  static_cast<void>(busbar::HostLevels(busbar::judge::fabric_csv(text, "fuzz", notes), "fuzz"));
}

/// Answers of nvidia-smi and the kernel's log: what was read is read back from its own lines.
void read_facts(View text) {
  using namespace busbar::machine;  // NOLINT(google-build-using-namespace)
  HostReading reading{.host = "h", .at = "1"};
  add_smi_query(text, smi_columns(), reading);
  add_nvlink_errors(text, reading);
  add_kernel_log(text, reading);
  try {
    add_nvlink_status(text, reading);
  } catch (const busbar::Error&) {
  }
  HostWindows windows;
  for (const FactLine& line : lines_of(reading)) windows.add(line);
  if (reading.values.empty()) return;
  require(windows.all().size() == 1);
  require(windows.all().front().last.values == reading.values);
  static_cast<void>(faults_of(windows.all().front()));
}

void read_facts_file(View text) {
  const MemoryFile file(text);
  const auto windows = busbar::machine::read_facts(file.path());
  for (const auto& window : windows.all()) {
    require(!window.first.values.empty() &&
            window.last.values.size() >= window.first.values.size());
    static_cast<void>(busbar::machine::faults_of(window));
  }
  static_cast<void>(busbar::machine::read_host_faults(file.path()));
}

/// A tree can be walked.
void walk(const topo::HostTree& tree) {
  for (const topo::GpuFacts& gpu : tree.gpus) static_cast<void>(find_pci(tree, gpu.bus_id));
}

/// hwloc 2.9.0 itself crashes on well-formed files (null sets, assertions): that happens in the
/// child in which parse_hwloc_xml tries the import.
void read_hwloc_xml(View text) { walk(topo::parse_hwloc_xml(std::string(text), "fuzz")); }
void read_nccl_xml(View text) { walk(topo::parse_nccl_xml(std::string(text), "fuzz")); }

/// Records have no negative or endless value; once with all that a user may tell, and once with
/// nothing, where the rows tell the collective.
void read_import_log(View text) {
  for (const busbar::study::LogReading& reading :
       {busbar::study::LogReading{
            .skip_bad_lines = true, .collective = "all_reduce", .ranks = 2, .size = busbar::kMiB},
        busbar::study::LogReading{.skip_bad_lines = true}}) {
    try {
      const std::vector<busbar::study::LogFile> logs{
          busbar::study::read_log(text, "fuzz", reading)};
      const auto rows = busbar::study::records_of(logs, reading);
      for (const busbar::Record& record : rows.records) {
        require(record.ranks > 0 && !record.collective.empty());
        const double busbw = record.busbw_GBps.value_or(0);
        require(std::isfinite(busbw) && busbw >= 0);
      }
    } catch (const busbar::Error&) {
    }
  }
}

void read_matrix(View text) {
  const MemoryFile file(text);
  const auto skew = busbar::parse_skew("--skew", "matrix:" + file.path(), 1);
  static_cast<void>(busbar::traffic_of(skew, 0, 1, skew.matrix->ranks));
}

void read_mix(View text) {
  constexpr int kRanks = 8;
  for (const auto& group : busbar::parse_mix(text, "fuzz", kRanks)) {
    require(group.size > 0 && group.ranks().size() <= kRanks);
    for (const auto& set : group.sets) require(group.root < static_cast<int>(set.size()));
  }
}

void read_samples(View text) {
  for (const auto& set : busbar::study::read_samples(MemoryFile(text).path(), "x")) {
    require(!set.times_us.empty() || !set.times_by_rank_us.empty());
  }
}

void read_smi_matrix(View text) {
  attempt([&] {
    const topo::SmiMatrix matrix = topo::parse_smi_matrix(text, "fuzz");
    require_sound(matrix, matrix.nics.size());
    for (std::size_t gpu = 0; gpu < matrix.gpus.size(); ++gpu) {
      for (const std::string& cell : matrix.cells[gpu]) require(!cell.empty());
    }
  });
}

void read_smi_nvlink(View text) {
  attempt([&] {
    for (const auto& gpu : topo::parse_nvlink_status(text, "fuzz"))
      for (const double GBps : gpu.links) require(std::isfinite(GBps) && GBps >= 0);
  });
}

void read_smi_p2p(View text) {
  attempt([&] {
    const topo::P2pMatrix matrix = topo::parse_smi_p2p(text, "fuzz");
    require(!matrix.gpus.empty());
    require_symmetric(matrix.cells, matrix.gpus.size());
  });
}

void read_smi_query(View text) {
  attempt([&] {
    std::set<int> seen;
    for (const auto& gpu : topo::parse_smi_query(text, "fuzz"))
      require(gpu.index >= 0 && seen.insert(gpu.index).second);
  });
}

/// What is accepted cannot be judged with numbers that decide nothing; a complaint says where, in
/// this text or in its base.
void read_specification(View text) {
  try {
    const auto specification = busbar::judge::parse_specification(text, "fuzz.toml", "");
    require(specification.run.launches >= specification.run.min_launches);
    require(std::isfinite(specification.run.timeout_s) && specification.run.timeout_s > 0);
    require(!specification.rules.empty());
    for (const busbar::judge::Rule& rule : specification.rules) {
      require(!rule.collectives.empty() && !rule.sizes.empty());
      static_cast<void>(specification.device_set(rule.device_set));
    }
  } catch (const busbar::Error& error) {
    require(View(error.what()).find(".toml:") != View::npos);
    throw;
  }
}

/// What is a system can be written and read again.
void read_system_file(View text) {
  const std::string saved = topo::write_system(topo::parse_system(text, "fuzz.toml"));
  attempt([&] { require(topo::write_system(topo::parse_system(saved, "saved.toml")) == saved); });
}

void read_timeline(View text) {
  const auto file = busbar::read_timeline(MemoryFile(text).path());
  static_cast<void>(
      busbar::describe_events(file.timeline, busbar::stats::find_events(file.timeline)));
}

struct Target {
  View name;
  void (*read)(View text);
};
constexpr auto kTargets = std::to_array<Target>({
    {"amd_smi", read_amd_smi},
    {"csv", read_csv_file},
    {"fabric", read_fabric},
    {"facts", read_facts},
    {"facts_file", read_facts_file},
    {"hwloc_xml", read_hwloc_xml},
    {"import_log", read_import_log},
    {"matrix", read_matrix},
    {"mix", read_mix},
    {"nccl_xml", read_nccl_xml},
    {"samples", read_samples},
    {"smi_matrix", read_smi_matrix},
    {"smi_nvlink", read_smi_nvlink},
    {"smi_p2p", read_smi_p2p},
    {"smi_query", read_smi_query},
    {"specification", read_specification},
    {"system_file", read_system_file},
    {"timeline", read_timeline},
});
const Target* chosen = nullptr;

}  // namespace

/// hwloc forgets to free an object (about 1 KB) of a file that it refuses in the middle of it,
/// which is no leak of ours.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:hwloc_alloc_setup_object\nleak:libhwloc.so\n";
}

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** arguments) {
  const std::string name = std::filesystem::path(**arguments).filename();
  chosen = busbar::find_by(kTargets, name, &Target::name);
  require(chosen != nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    chosen->read({reinterpret_cast<const char*>(data), size});
  } catch (const busbar::Error& error) {
    require(View(error.what()).find('\n') == View::npos);
  }
  return 0;
}
