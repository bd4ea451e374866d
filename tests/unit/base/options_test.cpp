// SPDX-License-Identifier: BSD-3-Clause
#include "base/options.hpp"

#include "base/removed_words.hpp"

namespace busbar {
namespace {

enum class Colour { Red, Green };
constexpr auto enum_names(Colour) {
  return std::array{Named{Colour::Red, "red"}, Named{Colour::Green, "green"}};
}

struct Sample {
  bool verbose = false;
  bool json = false;
  std::string out{};
  std::vector<std::string> files{};
  std::vector<std::string> tags{};
  std::optional<int> count{};
  std::optional<std::uint64_t> limit{7};
  Colour colour = Colour::Red;
  std::string when{};
  std::optional<std::string> to{};
};

using S = Sample;
constexpr auto kOptions = std::to_array<Option<S>>({
    {"-v,--verbose", "", set::value<&S::verbose>},
    {"--json", "", set::value<&S::json>},
    {"-o,--output", "FILE", set::file<&S::out>},
    {"--files", "FILE...", set::value<&S::files>},
    {"--tag", "[KEY=]TAG", set::value<&S::tags>},
    {"-c,--count", "N", set::integer<&S::count, 1, 9>, "make"},
    {"--limit", "N", set::integer_or_auto<&S::limit, 0>},
    {"--colour", "NAME", set::value<&S::colour>},
    {"--to", "[FILE]", set::value<&S::to>},
    {"--log", "[=WHEN]",
     [](S& s, std::string_view, std::string_view text) {
       s.when = text.empty() ? "always" : text;
     }},
});
constexpr std::array<std::string_view, 1> kExclusive{"--json,-v"};
constexpr auto kForeign = std::to_array<ForeignOption>({{"-t,--threads", "use more processes"}});
constexpr CommandLineTable<S> kTable{{.program = "tool do",
                                      .commands = "make,show",
                                      .default_command = "show",
                                      .most_positionals = 2,
                                      .exclusive = kExclusive,
                                      .foreign = kForeign},
                                     kOptions};

struct Parsed {
  Sample options{};
  Arguments line{};
};

/// Parses a command line that is written as one text; '' is an empty argument.
Parsed parse(const std::string& text) {
  std::vector<std::string> words = split(text, ' ');
  std::erase(words, "");
  std::vector<char*> pointers;
  for (std::string& word : words) {
    if (word == "''") word.clear();
    pointers.push_back(word.data());
  }
  Parsed parsed;
  parsed.line = parse_options(kTable, pointers, parsed.options);
  return parsed;
}

using Texts = std::vector<std::string>;

TEST(ParseOptions, TakesEverySpellingOfAValue) {
  for (const char* line : {"-o x", "-ox", "--output x", "--output=x", "-vo x", "-o y -o x"}) {
    EXPECT_EQ(parse(line).options.out, "x") << line;
  }
  EXPECT_EQ(parse("-o -v").options.out, "-v");
}

TEST(ParseOptions, TakesFlagsListsAndOptionalValues) {
  const Sample sample = parse("-v --tag a --tag k=b --files f g - --limit auto --log").options;
  EXPECT_TRUE(sample.verbose);
  EXPECT_EQ(sample.tags, (Texts{"a", "k=b"}));
  EXPECT_EQ(sample.files, (Texts{"f", "g", "-"}));
  EXPECT_FALSE(sample.limit.has_value());
  EXPECT_EQ(sample.when, "always");
  EXPECT_EQ(parse("--log=never").options.when, "never");
  EXPECT_EQ(parse("--limit 3").options.limit, 3U);
  for (const auto& [line, to] : {std::pair{"make --to", ""},
                                 {"--to -v", ""},
                                 {"--to -- make", ""},
                                 {"--to -", "-"},
                                 {"--to f", "f"},
                                 {"--to=f make", "f"}}) {
    EXPECT_EQ(parse(line).options.to, to) << line;
  }
  EXPECT_EQ(parse("--colour green").options.colour, Colour::Green);
}

TEST(ParseOptions, SeparatesTheCommandAndPositionalsWhichAreAllAfterTwoDashes) {
  const Parsed named = parse("make a -c 3 b");
  EXPECT_EQ(named.line.command, "make");
  EXPECT_EQ(named.line.positionals, (Texts{"a", "b"}));
  EXPECT_EQ(named.options.count, 3);
  EXPECT_TRUE(named.line.has("-c"));
  EXPECT_FALSE(named.line.has("-o"));
  EXPECT_EQ(parse("-v").line.command, "show");
  const Arguments line = parse("show a -- -v").line;
  EXPECT_EQ(line.positionals, (Texts{"a", "-v"}));
  EXPECT_EQ(line.before_dashes, 1U);
  EXPECT_EQ(parse("show a").line.before_dashes, 1U);
}

TEST(ParseOptions, PrefersHelpToARefusal) {
  for (const char* line : {"-h", "--help", "-vh", "--wibble -h", "-c 100 a b c --help"}) {
    EXPECT_TRUE(parse(line).line.help) << line;
  }
}

struct Refusal {
  const char* line;
  const char* token;
};

class RefusedLine : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedLine, IsAUsageErrorOfOneLineWithTheToken) {
  test::expect_failure(Status::Usage, GetParam().token, [] { (void)parse(GetParam().line); });
}

INSTANTIATE_TEST_SUITE_P(
    ParseOptions, RefusedLine,
    testing::Values(
        Refusal{"--outptu x", "did you mean --output?"},
        Refusal{"--frobnicate", "unknown option --frobnicate; see tool do --help"},
        Refusal{"-x", "unknown option -x"}, Refusal{"-t 4", "nccl-tests"},
        Refusal{"--threads=4", "use more processes"}, Refusal{"-v -o", "-o needs a value"},
        Refusal{"--json=1", "takes no value"}, Refusal{"--output ''", "-o"},
        Refusal{"--limit -1", "--limit: -1"}, Refusal{"make -c 10", "give 1 to 9"},
        Refusal{"--colour blue", "invalid value 'blue' for --colour; expected red or green"},
        Refusal{"show -c 1", "-c is only for tool do make"}, Refusal{"shwo", "did you mean show?"},
        Refusal{"wibble", "expected make or show"},
        Refusal{"show a b c", "unexpected argument 'c'"},
        Refusal{"--json -v", "--json and -v are mutually exclusive"}));

TEST(RemovedWords, NamesWhatDoesTheWorkNowAndHasNothingToSayOfOthers) {
  EXPECT_THAT(removed_word("busbar", "published"),
              HasSubstr("busbar published was removed: results/reference"));
  EXPECT_THAT(removed_word("", "--preset"), StartsWith("--preset was removed: give "));
  EXPECT_THAT(removed_word("busbar", "nosuch"), IsEmpty());
  EXPECT_THAT(removed_word("busbar topo", "published"), IsEmpty());
}

}  // namespace
}  // namespace busbar
