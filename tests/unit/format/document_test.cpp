// SPDX-License-Identifier: BSD-3-Clause
#include "format/document.hpp"

#include "format/markup_text.hpp"

namespace busbar {
namespace {

Document hostile() {
  const std::string label = "<script>alert('x')</script>|`&\"";
  Section section{.id = "one", .heading = label};
  section.blocks = {Paragraph{.text = label, .warning = true}, Bullets{.items = {label}},
                    Table{.caption = label, .columns = {label, "n"}, .rows = {{label, ""}}},
                    Figure{.svg = "<svg></svg>", .caption = label}};
  return {.title = label, .lead = label, .sections = {section}};
}

TEST(HtmlPage, EscapesEverythingAndNeedsNothingBesidesItself) {
  const std::string page = html_page(hostile());
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;|`&amp;&quot;"));
  EXPECT_THAT(page, HasSubstr("<td class=\"number\">\u2013</td>")) << "an empty cell";
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* word : {"http:", "https:", "src=", "@import", "url(", " style="}) {
    EXPECT_THAT(page, Not(HasSubstr(word)));
  }
}

TEST(HtmlPage, HasAContentsWithInnerLists) {
  const Document document{.sections = {{.level = 2, .id = "a", .heading = "A"},
                                       {.level = 3, .id = "b", .heading = "B"},
                                       {.level = 2, .id = "c", .heading = "C"}}};
  EXPECT_THAT(html_page(document), HasSubstr("<li><a href=\"#a\">A</a>\n<ul>\n"
                                             "<li><a href=\"#b\">B</a></li>\n</ul>\n</li>\n"
                                             "<li><a href=\"#c\">C</a></li>\n</ul>"));
}

TEST(HtmlPage, BeginsWithABannerAndEndsWithTheContents) {
  const std::string page = html_page({.title = "T",
                                      .verdict = "PASS",
                                      .tone = Tone::Good,
                                      .answer = "all <met>",
                                      .sections = {{.id = "a", .heading = "A"}}});
  EXPECT_THAT(page, HasSubstr("<title>PASS: T</title>"));
  EXPECT_THAT(page, HasSubstr("<body>\n<header class=\"good\">\n<h1><span class=\"verdict\">PASS"
                              "</span> T</h1>\n<p class=\"answer\">all &lt;met&gt;</p>"));
  EXPECT_GT(page.find("<nav"), page.find("</main>"));
  EXPECT_THAT(html_page({.title = "T"}), Not(HasSubstr("class=\"verdict\"")));
}

Document strip_of(std::size_t cells) {
  Strip strip{.states = {{Tone::Good, "good (9): h[0-8]"}, {Tone::Bad, "failed (1): <h9>"}}};
  for (std::size_t i = 0; i < cells; ++i) strip.cells.push_back({"<h9>", i % 2, "\"slow\""});
  return {.sections = {{.id = "a", .blocks = {strip}}}};
}

TEST(Strip, HasACellForEachThingWithAMarkBesideItsColour) {
  const std::string few = html_page(strip_of(2));
  EXPECT_THAT(few, HasSubstr("<li class=\"bad\" title=\"&lt;h9&gt;: &quot;slow&quot;\">\u00d7 "
                             "&lt;h9&gt;</li>"));
  EXPECT_THAT(few, HasSubstr("<span class=\"good\"></span>good (9): h[0-8]"));
  EXPECT_THAT(html_page(strip_of(1000)),
              HasSubstr("title=\"&lt;h9&gt;: &quot;slow&quot;\">\u00d7</li>"));
  EXPECT_THAT(markdown_page(strip_of(1000)),
              HasSubstr("- good (9): h\\[0-8\\]\n- failed (1): &lt;h9\\>"));
}

TEST(MarkdownPage, HasTheAnswerBelowTheTitle) {
  EXPECT_THAT(markdown_page({.title = "T", .verdict = "FAIL", .answer = "a", .lead = "l"}),
              StartsWith("# FAIL: T\n\n**a**\n\nl"));
}

TEST(MarkdownPage, EscapesMarkupAndCells) {
  const std::string page = markdown_page(hostile());
  EXPECT_THAT(page, AllOf(HasSubstr("\\|\\`&amp;"), HasSubstr("| n |\n| --- | ---: |\n"),
                          Not(HasSubstr("<script")), Not(HasSubstr("svg"))));
}

TEST(MarkupText, ReplacesWhatNoPageMayHave) {
  EXPECT_EQ(markup_text("a\x01z"), "a\uFFFDz");
  EXPECT_EQ(markup_text("a\xFF\xC3"), "a\uFFFD\uFFFD");
  EXPECT_EQ(markup_text("\xC0\xAF"), "\uFFFD\uFFFD");  // a long form of '/'
  EXPECT_EQ(markup_text("\xED\xA0\x80"), "\uFFFD");    // half of a pair
  EXPECT_EQ(markup_text("\u00e4\u0e01\u2192\U0001F600"), "\u00e4\u0e01\u2192\U0001F600");
}

TEST(MarkupId, HasLettersDigitsAndHyphens) {
  EXPECT_EQ(markup_id("DGX-1V <b>"), "dgx-1v-b");
  EXPECT_EQ(markup_id("\"\""), "part");
}

}  // namespace
}  // namespace busbar
