// SPDX-License-Identifier: BSD-3-Clause
// rocm-smi prints a JSON object: "system" with a member for each pair, and "card0", "card1", ...
// The first versions of amd-smi print a list of GPUs with an object for each table, later ones a
// list of GPUs with a list of links. As text all print tables: a title ("WEIGHT TABLE:", "===
// Weight between two GPUs ==="), a line with the GPUs as columns, and a row for each of them.
#include "topo/probes/amd_tables.hpp"

#include <nlohmann/json.hpp>

#include "topo/graph/graph.hpp"
#include "topo/probes/smi_text.hpp"

namespace busbar::topo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostGpus = 256;

/// rocm-smi prints warnings around its object.
Json parse_json(std::string_view text, std::string_view origin) {
  const std::size_t begin = std::min(text.find_first_of("[{"), text.size());
  const std::size_t end = std::min(text.find_last_of("]}"), text.size() - 1);
  try {
    return Json::parse(text.substr(begin, begin < end ? end + 1 - begin : text.size()));
  } catch (const Json::exception&) {
    throw amd_fault(origin, "not valid JSON: damaged or cut short");
  }
}

std::string text_of(const Json& value) {
  if (value.is_string()) return std::string(trim(value.get<std::string>()));
  return value.is_primitive() && !value.is_null() ? value.dump() : std::string{};
}

/// The list of GPUs, which later versions put into an object.
const Json* list_of_gpus(const Json& root) {
  if (root.is_array()) return &root;
  for (const char* key : {"gpu_data", "topology"}) {
    if (root.is_object() && root.contains(key) && root.at(key).is_array()) return &root.at(key);
  }
  return nullptr;
}

struct TableName {
  AmdTable table;
  std::string_view title;      ///< as text, a part in lower case
  std::string_view in_links;   ///< in JSON of amd-smi since ROCm 6.2
  std::string_view in_gpu;     ///< of amd-smi before
  std::string_view in_system;  ///< of rocm-smi, in lower case
};
constexpr std::array<TableName, 6> kTables{
    {{AmdTable::Weight, "weight", "weight", "weight", "(topology) weight between drm devices"},
     {AmdTable::Hops, "hops", "num_hops", "hops", "(topology) hops between drm devices"},
     {AmdTable::Type, "link type", "link_type", "link_type",
      "(topology) link type between drm devices"},
     {AmdTable::Access, "access", "link_status", "link_accessibility", ""},
     {AmdTable::Bandwidth, "numa bw", "bandwidth", "numa_bandwidth", ""},
     {AmdTable::Bandwidth, "bandwidth", "", "", ""}}};

class JsonTables {
 public:
  explicit JsonTables(std::string_view origin) : origin_(origin) {}

  [[nodiscard]] AmdTables read(const Json& root) {
    if (const Json* gpus = list_of_gpus(root)) {
      read_amd_smi(*gpus);
    } else if (root.is_object() && root.contains("system") && root.at("system").is_object()) {
      read_rocm_smi(root);
    } else {
      throw amd_fault(origin_, "this JSON is not a topology of AMD's tools");
    }
    return std::move(tables_);
  }

 private:
  void set(AmdTable table, std::size_t from, std::size_t to, std::string text) {
    const std::size_t n = tables_.gpus.size();
    if (from >= n || to >= n) {
      throw amd_fault(origin_, fmt::format("a link of GPUs {} and {}, of {}", from, to, n));
    }
    auto& rows = tables_.tables[table];
    rows.resize(n, std::vector<std::string>(n));
    rows[from][to] = std::move(text);
  }

  void name_gpus(std::size_t count) {
    if (count == 0 || count > kMostGpus) throw amd_fault(origin_, fmt::format("{} GPUs", count));
    for (std::size_t i = 0; i < count; ++i) tables_.gpus.push_back(fmt::format("GPU{}", i));
  }

  void read_amd_smi(const Json& gpus) {
    name_gpus(gpus.size());
    for (std::size_t from = 0; from < gpus.size(); ++from) {
      const Json& gpu = gpus[from];
      if (!gpu.is_object()) throw amd_fault(origin_, "a GPU is not an object");
      if (gpu.contains("bdf")) tables_.gpus[from] = text_of(gpu["bdf"]);
      if (gpu.contains("links")) {
        read_links(from, gpu["links"]);
      } else {
        read_rows(from, gpu);
      }
    }
  }

  void read_links(std::size_t from, const Json& links) {
    if (!links.is_array()) throw amd_fault(origin_, "the links of a GPU are not a list");
    for (std::size_t place = 0; place < links.size(); ++place) {
      const Json& link = links.at(place);
      if (!link.is_object()) throw amd_fault(origin_, "a link is not an object");
      const auto number = to_number<std::size_t>(link.contains("gpu") ? text_of(link["gpu"]) : "");
      for (const TableName& key : kTables) {
        const auto found = link.find(std::string(key.in_links));
        if (found != link.end()) set(key.table, from, number.value_or(place), text_of(*found));
      }
    }
  }

  void read_rows(std::size_t from, const Json& gpu) {
    for (const TableName& key : kTables) {
      const auto row = gpu.find(std::string(key.in_gpu));
      if (row == gpu.end() || !row->is_object()) continue;
      for (const auto& [name, value] : row->items()) {
        const auto to =
            to_number<std::size_t>(name.substr(std::min(name.find('_') + 1, name.size())));
        if (!to) throw amd_fault(origin_, fmt::format("{} is not a GPU", in_quotes(name)));
        set(key.table, from, *to, text_of(value));
      }
    }
  }

  void read_rocm_smi(const Json& root) {
    std::size_t count = 0;
    while (root.contains(fmt::format("card{}", count))) ++count;
    name_gpus(count);
    for (std::size_t i = 0; i < count; ++i) {
      for (const auto& [name, value] : root.at(fmt::format("card{}", i)).items()) {
        if (lower(name) != "(topology) numa node") continue;
        tables_.numa.resize(count);
        tables_.numa[i] = text_of(value);
      }
    }
    for (const auto& [name, value] : root.at("system").items()) read_pair(name, text_of(value));
  }

  /// "(Topology) Hops between DRM devices 0 and 1", each pair once.
  void read_pair(const std::string& name, const std::string& text) {
    for (const TableName& key : kTables) {
      if (key.in_system.empty() || !lower(name).starts_with(key.in_system)) continue;
      const std::vector<std::string> words = split_words(name.substr(key.in_system.size()));
      const auto from = to_number<std::size_t>(words.empty() ? "" : words.front());
      const auto to = to_number<std::size_t>(words.size() < 3 ? "" : words[2]);
      if (!from || !to) {
        throw amd_fault(origin_, fmt::format("{} does not name two GPUs", in_quotes(name)));
      }
      set(key.table, *from, *to, text);
      set(key.table, *to, *from, text);
    }
  }

  std::string_view origin_;
  AmdTables tables_{};
};

/// A number with a unit is an object, as sections are.
AmdFields fields_of(const Json& gpu) {
  AmdFields fields;
  const auto is_section = [](const Json& value) {
    return value.is_object() && !value.contains("value");
  };
  const auto add = [&](const std::string& name, const Json& value) {
    if (is_section(value)) return;
    fields.emplace_back(lower(name), text_of(value.is_object() ? value["value"] : value));
  };
  for (const auto& [name, value] : gpu.items()) {
    add(name, value);
    if (!is_section(value)) continue;
    for (const auto& [inner, text] : value.items()) add(fmt::format("{}.{}", name, inner), text);
  }
  return fields;
}

bool is_title(const TextLine& line) {
  return line.text.starts_with("==") || lower(line.text).ends_with("table:");
}

/// Null for a title of something else.
const TableName* table_titled(const TextLine& line) {
  const std::string text = lower(line.text);
  const auto* const found = std::ranges::find_if(
      kTables, [&](const TableName& one) { return text.find(one.title) != std::string::npos; });
  return found == kTables.end() ? nullptr : found;
}

/// "GPU0", or a PCI address.
bool is_gpu(const Word& word) {
  if (!normal_bus_id(word.text).empty()) return true;
  return word.text.starts_with("GPU") && whole_number(word.text.substr(3));
}

class TableReader {
 public:
  explicit TableReader(std::string_view origin) : origin_(origin) {}

  [[nodiscard]] AmdTables read(const std::vector<TextLine>& lines) {
    for (const TextLine& line : lines) {
      line_ = line.number;
      if (line.empty()) continue;
      if (is_title(line)) {
        close();
        table_ = table_titled(line);
        line_of_title_ = line.text;
      } else if (line.text.find("(Topology) Numa Node:") != std::string::npos) {
        read_numa(line);
      } else if (table_ != nullptr) {
        read_line(line.words);
      }
    }
    close();
    const auto unknown = std::ranges::find(tables_.numa, "");
    if (!tables_.numa.empty() && unknown != tables_.numa.end()) {
      fail("no NUMA node of GPU {}: cut short", unknown - tables_.numa.begin());
    }
    return std::move(tables_);
  }

 private:
  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> what, Args&&... args) const {
    throw amd_fault(fmt::format("{}:{}", origin_, line_),
                    fmt::format(what, std::forward<Args>(args)...));
  }

  void read_line(const std::vector<Word>& words) {
    if (std::ranges::all_of(words, is_gpu)) {
      read_columns(words);
    } else if (is_gpu(words.front())) {
      read_row(words);
    }
  }

  void read_columns(const std::vector<Word>& words) {
    std::vector<std::string> gpus = mapped(words, &Word::text);
    if (!tables_.gpus.empty() && tables_.gpus != gpus) {
      fail("the GPUs of this table are not those of the first");
    }
    tables_.gpus = std::move(gpus);
    has_columns_ = true;
  }

  void read_row(const std::vector<Word>& words) {
    if (!has_columns_) fail("a row without a line of GPUs above it");
    auto& rows = tables_.tables[table_->table];
    if (rows.size() == tables_.gpus.size() || tables_.gpus[rows.size()] != words.front().text) {
      fail("{} is not the next GPU", in_quotes(words.front().text));
    }
    if (words.size() != tables_.gpus.size() + 1) {
      fail("{} of {} cells: cut short", words.size() - 1, tables_.gpus.size());
    }
    auto& row = rows.emplace_back();
    for (std::size_t k = 1; k < words.size(); ++k) row.push_back(words[k].text);
  }

  /// The end of a table: are all its rows there? rocm-smi has titles of lists, too.
  void close() {
    const bool is_list = !has_columns_ && line_of_title_.starts_with("==");
    if (table_ != nullptr && !is_list) {
      const std::size_t rows = tables_.tables[table_->table].size();
      const std::size_t gpus = tables_.gpus.size();
      if (rows == 0 || rows < gpus) {
        fail("the table of {} has {} of {} rows: cut short", table_->title, rows, gpus);
      }
    }
    table_ = nullptr;
    has_columns_ = false;
  }

  /// "GPU[0]		: (Topology) Numa Node: 0", "GPU 0          : ...".
  void read_numa(const TextLine& line) {
    const std::size_t begin = std::min(line.text.find_first_of("0123456789"), line.text.size());
    const std::size_t end = line.text.find_first_not_of("0123456789", begin);
    const auto gpu = find(tables_.gpus.begin(), tables_.gpus.end(),
                          "GPU" + line.text.substr(begin, end - begin));
    if (gpu == tables_.gpus.end()) fail("a NUMA node of a GPU that is in no table");
    tables_.numa.resize(tables_.gpus.size());
    tables_.numa[static_cast<std::size_t>(gpu - tables_.gpus.begin())] = line.words.back().text;
  }

  std::string_view origin_;
  std::size_t line_ = 1;
  const TableName* table_ = nullptr;
  std::string line_of_title_{};
  bool has_columns_ = false;
  AmdTables tables_{};
};

std::vector<AmdFields> json_fields(std::string_view text, std::string_view origin) {
  const Json root = parse_json(text, origin);
  const Json* gpus = list_of_gpus(root);
  if (gpus == nullptr) throw amd_fault(origin, "this JSON has no list of GPUs");
  std::vector<AmdFields> all;
  for (const Json& gpu : *gpus) {
    if (!gpu.is_object()) throw amd_fault(origin, "a GPU is not an object");
    all.push_back(fields_of(gpu));
  }
  return all;
}

std::vector<AmdFields> text_fields(std::string_view text, std::string_view origin) {
  // Sections are known by their indentation: 0 of a GPU, then one or two levels of names.
  std::vector<AmdFields> gpus;
  bool in_gpu = false;     // not in a CPU's part
  std::string section;     // "asic."
  std::size_t indent = 0;  // lines with this or less are not of the section
  for (const TextLine& line : clean_lines(text)) {
    const std::size_t colon = line.text.find(':');
    if (colon == std::string::npos) continue;
    const std::string name = lower(line.text.substr(0, colon));
    const std::string value(trim(line.text.substr(colon + 1)));
    if (line.indent == 0) {
      in_gpu = name == "gpu";
      section.clear();
      if (in_gpu) gpus.push_back({{name, value}});
    } else if (in_gpu && value.empty()) {
      section = name + '.';
      indent = line.indent;
    } else if (in_gpu) {
      gpus.back().emplace_back(line.indent > indent ? section + name : name, value);
    }
  }
  if (gpus.empty()) throw amd_fault(origin, "no line `GPU: 0`");
  return gpus;
}

}  // namespace

bool is_json(std::string_view text) {
  return trim(text).starts_with('[') || trim(text).starts_with('{') ||
         text.find("\"system\"") != std::string_view::npos;
}

AmdTables parse_amd_tables(std::string_view text, std::string_view origin) {
  return is_json(text) ? JsonTables(origin).read(parse_json(text, origin))
                       : TableReader(origin).read(clean_lines(text));
}

std::vector<AmdFields> parse_amd_fields(std::string_view text, std::string_view origin) {
  return is_json(text) ? json_fields(text, origin) : text_fields(text, origin);
}

}  // namespace busbar::topo
