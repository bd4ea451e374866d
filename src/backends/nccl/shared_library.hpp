// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace busbar {

/// A library that is opened at run time and stays open: the program starts without it.
class SharedLibrary {
 public:
  /// Opens the first of these names that the dynamic linker finds.
  SharedLibrary(std::initializer_list<const char*> names);

  [[nodiscard]] bool is_open() const { return handle_ != nullptr; }
  /// The address of a function, or null where the library has none of this name.
  [[nodiscard]] void* find(const char* function) const;
  /// As find; a function that is not there makes the library unusable.
  [[nodiscard]] void* require(const char* function);
  /// The file that was opened, or an empty text.
  [[nodiscard]] std::string path() const;
  /// Why the library cannot be used, or an empty text.
  [[nodiscard]] std::string problem() const;

 private:
  void* handle_ = nullptr;
  std::string error_;  // the linker's, of the first name
  std::vector<std::string> missing_;
};

template <class Signature>
class LibraryFunction;

/// A function of a SharedLibrary; false where the library has none.
template <class Result, class... Arguments>
class LibraryFunction<Result(Arguments...)> {
 public:
  explicit LibraryFunction(void* address)
      : call_(reinterpret_cast<Result (*)(Arguments...)>(address)) {}

  explicit operator bool() const { return call_ != nullptr; }
  Result operator()(Arguments... arguments) const { return call_(arguments...); }

 private:
  Result (*call_)(Arguments...);
};

}  // namespace busbar
