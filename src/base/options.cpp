// SPDX-License-Identifier: BSD-3-Clause
#include "base/options.hpp"

#include "base/removed_words.hpp"

namespace busbar {
namespace {

bool is_one_of(View names, View name) { return contains(split(names, ','), name); }

View first_of(View names) { return names.substr(0, names.find(',')); }

bool looks_like_option(View argument) { return argument.size() > 1 && argument.front() == '-'; }

class Splitter {
 public:
  Splitter(const CommandSyntax& syntax, std::span<const OptionSyntax> options,
           std::span<char* const> arguments)
      : syntax_(syntax), options_(options), arguments_(arguments) {}

  Arguments run() {
    std::optional<std::size_t> dashes;
    for (; next_ < arguments_.size(); ++next_) {
      const View argument = arguments_[next_];
      if (argument == "--" && !dashes) {
        dashes = line_.positionals.size();
      } else if (dashes || !looks_like_option(argument)) {
        line_.positionals.emplace_back(argument);
      } else if (argument.starts_with("--")) {
        take_long(argument);
      } else {
        take_short(argument);
      }
    }
    line_.before_dashes = dashes.value_or(line_.positionals.size());
    if (line_.help) return std::move(line_);
    take_command();
    check();
    return std::move(line_);
  }

 private:
  [[nodiscard]] std::string see_help() const {
    return fmt::format("see {}{}--help", syntax_.program, syntax_.program.empty() ? "" : " ");
  }

  void refuse_removed(View word) const {
    const std::string removed = removed_word(syntax_.program, word);
    if (!removed.empty()) throw usage_error("{}", removed);
  }

  /// The row of a name; `whole` is the argument for the message.
  [[nodiscard]] std::size_t find(View name, View whole) const {
    std::vector<std::string> known{"--help"};
    for (std::size_t i = 0; i < options_.size(); ++i) {
      for (const std::string& one : split(options_[i].names, ',')) {
        if (one == name) return i;
        if (one.starts_with("--")) known.push_back(one);
      }
    }
    for (const ForeignOption& foreign : syntax_.foreign) {
      if (!is_one_of(foreign.names, name)) continue;
      throw usage_error("{} is an option of nccl-tests, not of busbar: {}", name, foreign.advice);
    }
    refuse_removed(name);
    throw usage_error("unknown option {}; {}", whole, suggestion(whole, known, see_help()));
  }

  void add(std::size_t option, View text) {
    line_.given.push_back(
        {.option = option, .name = first_of(options_[option].names), .text = std::string(text)});
  }

  /// The value of an option that stands by itself: what follows it.
  void add_following(std::size_t option, View name) {
    if (next_ + 1 >= arguments_.size()) {
      throw usage_error("{} needs a value; {}", name, see_help());
    }
    add(option, arguments_[++next_]);
    if (!options_[option].argument.ends_with("...")) return;
    while (next_ + 1 < arguments_.size() && !looks_like_option(arguments_[next_ + 1])) {
      add(option, arguments_[++next_]);
    }
  }

  /// Whether an option without '=' has no value.
  [[nodiscard]] bool stands_alone(View expected) const {
    const bool is_last = next_ + 1 >= arguments_.size() || looks_like_option(arguments_[next_ + 1]);
    const bool may = is_last && expected.starts_with('[') && expected.ends_with(']');
    return expected.empty() || expected.starts_with("[=") || may;
  }

  void take_long(View argument) {
    const std::size_t equals = argument.find('=');
    const View name = argument.substr(0, equals);
    const bool has_text = equals != View::npos;
    if (name == "--help") {
      line_.help = true;
      return;
    }
    const std::size_t option = find(name, name);
    const View expected = options_[option].argument;
    if (has_text && expected.empty()) throw usage_error("{} takes no value", name);
    if (has_text) {
      add(option, argument.substr(equals + 1));
    } else if (stands_alone(expected)) {
      add(option, "");
    } else {
      add_following(option, name);
    }
  }

  /// "-b8", "-b 8", "-v", and flags in one: "-vh".
  void take_short(View argument) {
    for (std::size_t i = 1; i < argument.size(); ++i) {
      const std::string name{'-', argument[i]};
      if (name == "-h") {
        line_.help = true;
        continue;
      }
      const std::size_t option = find(name, argument);
      const View rest = argument.substr(i + 1);
      if (options_[option].argument.empty()) {
        add(option, "");
        continue;
      }
      return rest.empty() ? add_following(option, name) : add(option, rest);
    }
  }

  void take_command() {
    if (syntax_.commands.empty()) return;
    const std::vector<std::string> known = split(syntax_.commands, ',');
    if (line_.positionals.empty() || line_.before_dashes == 0) {
      if (syntax_.default_command.empty()) {
        throw usage_error("missing command; expected {}; {}", alternatives(known), see_help());
      }
      line_.command = syntax_.default_command;
      return;
    }
    line_.command = line_.positionals.front();
    if (!is_one_of(syntax_.commands, line_.command)) {
      refuse_removed(line_.command);
      throw usage_error(
          "unknown command '{}'; {}", line_.command,
          suggestion(line_.command, known, fmt::format("expected {}", alternatives(known))));
    }
    line_.positionals.erase(line_.positionals.begin());
    --line_.before_dashes;
  }

  void check() const {
    for (const Arguments::Given& given : line_.given) {
      const View commands = options_[given.option].commands;
      if (commands.empty() || is_one_of(commands, line_.command)) continue;
      throw usage_error("{} is only for {} {}", given.name, syntax_.program,
                        join(split(commands, ','), " and "));
    }
    if (line_.positionals.size() > syntax_.most_positionals) {
      throw usage_error("unexpected argument '{}'; {}", line_.positionals[syntax_.most_positionals],
                        see_help());
    }
    for (const View group : syntax_.exclusive) {
      std::vector<std::string> there = split(group, ',');
      std::erase_if(there, [&](const std::string& name) { return !line_.has(name); });
      if (there.size() < 2) continue;
      throw usage_error("{} are mutually exclusive", join(there, " and "));
    }
  }

  const CommandSyntax& syntax_;
  std::span<const OptionSyntax> options_;
  std::span<char* const> arguments_;
  std::size_t next_ = 0;
  Arguments line_{};
};

}  // namespace

bool Arguments::has(std::string_view name) const {
  return std::ranges::any_of(given, [&](const Given& option) { return option.name == name; });
}

Arguments split_arguments(const CommandSyntax& syntax, std::span<const OptionSyntax> options,
                          std::span<char* const> arguments) {
  try {
    return Splitter(syntax, options, arguments).run();
  } catch (const Error&) {
    const bool help = std::ranges::any_of(
        arguments, [](View argument) { return argument == "-h" || argument == "--help"; });
    if (!help) throw;
    return {.help = true};
  }
}

std::string suggestion(std::string_view text, std::span<const std::string> known,
                       std::string_view otherwise) {
  const std::string near = nearest_word(text, known);
  return near.empty() ? std::string(otherwise) : fmt::format("did you mean {}?", near);
}

Bytes parse_positive_bytes(std::string_view option, std::string_view text) {
  const Bytes size = parse_bytes(option, text);
  if (size > 0) return size;
  throw usage_error("{}: 0 is out of range; give 1 or more", option);
}

InvalidValue invalid_value(std::string_view option, std::string_view text,
                           std::span<const std::string> expected) {
  return {
      fmt::format("invalid value '{}' for {}; expected {}", text, option, alternatives(expected)),
      expected};
}

std::size_t parse_choice(std::string_view option, std::string_view text,
                         std::span<const std::string> names) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) throw invalid_value(option, text, names);
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace busbar
