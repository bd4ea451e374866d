// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/enum_names.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

namespace busbar {

/// Makes an option's text part of a program's options; throws a usage error that names the option.
template <class Options>
using OptionSetter = void (*)(Options& options, std::string_view option, std::string_view text);

/// One option: a row here, a line of its help document and a test are all that it needs.
template <class Options>
struct Option {
  std::string_view names;       ///< "-b,--minbytes"; messages use the first
  std::string_view argument;    ///< as in the help: "SIZE"; "": a flag; "FILE...": all arguments up
                                ///< to the next option; "[=WHEN]": only after '='; "[FILE]": also
                                ///< what follows, unless that is an option
  OptionSetter<Options> set;    ///< called once per value, in the order of the command line
  std::string_view commands{};  ///< "run,judge": only for these; empty: for all
};

/// An option of another program, and what to do without it.
struct ForeignOption {
  std::string_view names;
  std::string_view advice;
};

/// What a command line may consist of, apart from its options.
struct CommandSyntax {
  std::string_view program{};          ///< "busbar topo"; empty: not worth a mention in messages
  std::string_view help{};             ///< path of the document that --help prints
  std::string_view commands{};         ///< "run,judge": the first positional must be one of them
  std::string_view default_command{};  ///< for a line without a command; empty: refused
  std::size_t most_positionals = std::numeric_limits<std::size_t>::max();
  std::span<const std::string_view> exclusive{};  ///< "--json,--markdown": at most one of each row
  std::span<const ForeignOption> foreign{};       ///< of nccl-tests
};

template <class Options>
struct CommandLineTable : CommandSyntax {
  std::span<const Option<Options>> options{};
};

/// A command line that has been taken apart; options are applied by parse_options().
struct Arguments {
  struct Given {
    std::size_t option = 0;   ///< row of the table
    std::string_view name{};  ///< the row's first name
    std::string text{};
  };

  bool help = false;
  std::string command{};
  std::vector<std::string> positionals{};  ///< neither options nor their values
  std::size_t before_dashes = 0;           ///< positionals before "--"; all of them without one
  std::vector<Given> given{};

  /// Whether the option with this first name is there.
  [[nodiscard]] bool has(std::string_view name) const;
};

/// The names of an option, its argument and its commands, whatever it sets.
struct OptionSyntax {
  std::string_view names;
  std::string_view argument;
  std::string_view commands;
  std::vector<std::string> values{};  ///< only of syntax_of(): the few that it may have
};

/// What a command line may consist of.
struct CommandLineSyntax : CommandSyntax {
  std::vector<OptionSyntax> options{};
};

/// Takes `arguments` (without the program's name) apart: "--opt value", "--opt=value", "-b 8",
/// "-b8", flags in one ("-vh"), "--". Throws a usage error for an unknown option, a missing value,
/// a stray argument or options that exclude each other, unless --help is there, too.
[[nodiscard]] Arguments split_arguments(const CommandSyntax& syntax,
                                        std::span<const OptionSyntax> options,
                                        std::span<char* const> arguments);

/// The same, and applies the options unless --help is there.
template <class Options>
[[nodiscard]] Arguments parse_options(const CommandLineTable<Options>& table,
                                      std::span<char* const> arguments, Options& options) {
  const auto syntax = mapped(table.options, [](const Option<Options>& option) {
    return OptionSyntax{option.names, option.argument, option.commands, {}};
  });
  Arguments line = split_arguments(table, syntax, arguments);
  if (line.help) return line;
  for (const Arguments::Given& given : line.given) {
    table.options[given.option].set(options, given.name, given.text);
  }
  return line;
}

/// The values that a setter names when it refuses another; none for an option of many values.
template <class Options>
[[nodiscard]] std::vector<std::string> values_of(const Option<Options>& option) {
  try {
    Options unused;
    option.set(unused, option.names, "?");
  } catch (const InvalidValue& invalid) {
    return invalid.expected();
  } catch (const Error&) {  // of a value that is not one of a few
  }
  return {};
}

/// All that a table says of its command line, for completion.
template <class Options>
[[nodiscard]] CommandLineSyntax syntax_of(const CommandLineTable<Options>& table) {
  CommandLineSyntax syntax{table};
  for (const Option<Options>& option : table.options) {
    syntax.options.push_back({option.names, option.argument, option.commands, values_of(option)});
  }
  return syntax;
}

/// "did you mean --csv?" where a known text is near; otherwise `otherwise`.
[[nodiscard]] std::string suggestion(std::string_view text, std::span<const std::string> known,
                                     std::string_view otherwise);

/// Which of `names` the text is; throws invalid_value.
[[nodiscard]] std::size_t parse_choice(std::string_view option, std::string_view text,
                                       std::span<const std::string> names);

/// Reads a size above 0; throws a usage error that begins with `option`.
[[nodiscard]] Bytes parse_positive_bytes(std::string_view option, std::string_view text);

/// Setters of options, by the member that they set.
namespace set {

template <class Options, class Value>
Options owner_of(Value Options::*);
template <auto Member>
using Owner = decltype(owner_of(Member));

template <class Value>
struct Unwrapped {
  using Type = Value;
};
template <class Value>
struct Unwrapped<std::optional<Value>> {
  using Type = Value;
};
/// The type of a member's value; an optional's is what it holds.
template <auto Member>
using ValueOf = typename Unwrapped<
    std::remove_reference_t<decltype(std::declval<Owner<Member>&>().*Member)>>::Type;

/// A flag, a text, one more text of a list, or a value of an enum that has names.
template <auto Member>
void value(Owner<Member>& options, std::string_view option, std::string_view text) {
  using Value = ValueOf<Member>;
  if constexpr (std::is_same_v<Value, bool>) {
    options.*Member = true;
  } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    (options.*Member).emplace_back(text);
  } else if constexpr (std::is_enum_v<Value>) {
    options.*Member = parse_value<Value>(option, text);
  } else {
    options.*Member = std::string(text);
  }
}

/// A whole number from Low to High; an enum or a bool by its number.
template <auto Member, std::int64_t Low,
          std::int64_t High = std::numeric_limits<std::int64_t>::max()>
void integer(Owner<Member>& options, std::string_view option, std::string_view text) {
  options.*Member = static_cast<ValueOf<Member>>(parse_integer(option, text, Low, High));
}

/// The same, or "auto", which is nothing.
template <auto Member, std::int64_t Low>
void integer_or_auto(Owner<Member>& options, std::string_view option, std::string_view text) {
  (options.*Member).reset();
  if (text != "auto") integer<Member, Low>(options, option, text);
}

/// A file's name, which is not empty.
template <auto Member>
void file(Owner<Member>& options, std::string_view option, std::string_view text) {
  if (text.empty()) throw usage_error("{}: empty file name", option);
  options.*Member = std::string(text);
}

}  // namespace set
}  // namespace busbar
