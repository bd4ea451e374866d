// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/folder.hpp"

#include <cctype>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace busbar::judge {
namespace {

void make_empty_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw usage_error(fmt::format("-o {}: {}", path, error.message()));
  const bool empty = std::filesystem::is_empty(path, error);
  if (error) throw usage_error(fmt::format("-o {}: {}", path, error.message()));
  if (!empty) {
    throw usage_error(fmt::format(
        "-o {}: the folder is not empty, and nothing is replaced; name a new one", path));
  }
}

void write_file(const std::string& path, const std::string& text) {
  OutputFile(path, "-o", OutputFile::Mode::New).append(text);
}

}  // namespace

std::string file_word(const std::string& text) {
  constexpr std::size_t kMost = 60;
  std::string word;
  for (const char character : text.substr(0, kMost)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(character)) != 0 ||
                       character == '.' || character == '+' || character == '-';
    word += plain ? character : '-';
  }
  return word;
}

RunFolder::RunFolder(std::string path, Journal head, const std::string& specification_text)
    : path_(std::move(path)), journal_(std::move(head)) {
  make_empty_folder(path_);
  write_file(path_ + "/spec.toml", specification_text);
  file_.emplace(journal_path(), "-o", OutputFile::Mode::New);
  file_->append(journal_head(journal_));
}

void RunFolder::add(std::size_t number, const Job& job, const JournalLine& outcome,
                    const std::string& csv, const std::string& log) {
  const std::string stem = fmt::format("{:03}-{}-{}-{}", number, file_word(job.device_set),
                                       file_word(job_name(job)), file_word(job.collective));
  if (!csv.empty()) write_file(fmt::format("{}/{}.csv", path_, stem), csv);
  if (!log.empty()) write_file(fmt::format("{}/{}.log", path_, stem), log);
  std::string rows;
  for (const Instance& instance : job.instances) {
    JournalLine line = outcome;
    line.device_set = job.device_set;
    line.instance = instance.name;
    line.nodes = instance.nodes;
    line.group = instance.group;
    line.launch = job.launch;
    line.attempt = job.attempt;
    line.purpose = job.purpose;
    line.collective = job.collective;
    if (!csv.empty()) line.file = stem + ".csv";
    rows += journal_row(line);
    journal_.lines.push_back(std::move(line));
  }
  file_->append(rows);
}

}  // namespace busbar::judge
