// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "base/units.hpp"

namespace busbar {

/// Opens /dev/null where standard input, output or error is closed, first in main: a file that took
/// the number would receive what is printed. Writing to standard output still fails then, as
/// writing beyond a limit (ulimit -f) does from here on, instead of ending the process.
void reserve_standard_streams();
/// Throws the error of what was printed and cannot be written.
void flush_standard_output();

/// Throws the usage error of a file that exists and is not empty, and creates nothing: for a
/// program that writes several files, or none.
void check_new(const std::string& path, std::string_view option);

/// A file that grows and whose parts are on disk when a call returns. Never replaces a file that
/// has something in it: nothing measured is lost.
class OutputFile {
 public:
  enum class Mode { New, Continue };

  /// Creates the file, or with Continue opens one that may have been begun before; "-" is standard
  /// output. Throws a usage error that names `option` where it cannot be.
  OutputFile(std::string path, std::string_view option, Mode mode);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// Throws Error (Runtime) where the disk is full or broken; a file that has nothing else in it is
  /// removed then.
  void append(std::string_view text);
  /// Writes from `offset` on, over what is there.
  void write_at(Bytes offset, std::string_view text);
  /// Removes what follows the last line end: the line that a killed run was writing.
  void drop_unfinished_line();
  /// Cuts the file after `size` bytes.
  void truncate(Bytes size);
  [[nodiscard]] Bytes size() const { return size_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  friend void replace_file(const std::string& path, std::string_view text, std::string_view option);
  OutputFile(std::string path, int descriptor);

  [[noreturn]] void fail() const;

  std::string path_;
  bool stream_ = false;  ///< standard output: has no places
  int descriptor_ = -1;
  Bytes size_ = 0;
  Bytes written_ = 0;  ///< what is on the disk for certain
};

/// Writes the whole file aside and renames it, so that a reader sees the old text or the new one
/// and never a part. For files that are made to be replaced, as those of node_exporter's textfile
/// collector. Throws a usage error that names `option` where the folder does not let it, and Error
/// (Runtime) where the disk is full.
void replace_file(const std::string& path, std::string_view text, std::string_view option);

}  // namespace busbar
