// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/xml.hpp"

#include <gtest/gtest.h>

#include "tests/unit/topo/probes/refused.hpp"

namespace busbar::topo {
namespace {

std::string refused(const std::string& text) {
  return refusal([&] { static_cast<void>(check_xml(text, "f.xml", "mend it")); });
}

TEST(XmlCheck, TellsTheOutermostElement) {
  const XmlRoot root = check_xml("<?xml version=\"1.0\"?>\n<!-- c -->\n<a version=\"7\"><b/></a>\n",
                                 "f.xml", "mend it");
  EXPECT_EQ(root.name, "a");
  EXPECT_EQ(root.version, "7");
  EXPECT_EQ(root.offset, 34U);
}

TEST(XmlCheck, CountsLinesAndColumnsFromOne) {
  EXPECT_EQ(place_in("ab\ncd", "f", 0), "f:1:1");
  EXPECT_EQ(place_in("ab\ncd", "f", 2), "f:1:3");
  EXPECT_EQ(place_in("ab\ncd", "f", 3), "f:2:1");
  EXPECT_EQ(place_in("ab\ncd", "f", 99), "f:2:3");
}

TEST(XmlCheck, NamesThePlaceOfAFault) {
  EXPECT_EQ(refused("<a>\n <b x=1/>\n</a>"),
            "f.xml:2:7: a damaged attribute: the file is damaged or cut short; mend it");
}

TEST(XmlCheck, RefusesWhatIsNoWholeDocument) {
  EXPECT_NE(refused("").find("nothing but blanks"), std::string::npos);
  EXPECT_NE(refused(" \n").find("nothing but blanks"), std::string::npos);
  EXPECT_NE(refused("hello").find("f.xml:1:1: "), std::string::npos);
  EXPECT_NE(refused("<a><b></a>").find("not closed"), std::string::npos);
  EXPECT_NE(refused("<a/><b/>").find("a second outermost element"), std::string::npos);
  EXPECT_NE(refused("<a/>tail").find("f.xml:1:5: text outside"), std::string::npos);
  EXPECT_NE(refused("head<a/>").find("text outside"), std::string::npos);
  EXPECT_NE(refused("<!-- only -->").find("no XML element"), std::string::npos);
  EXPECT_NE(refused(std::string("<a/>\0", 5)).find("a zero byte"), std::string::npos);
}

TEST(XmlCheck, RefusesEntitiesAndDepthsThatExhaustReaders) {
  EXPECT_NE(refused("<!DOCTYPE a [<!ENTITY x \"y\">]><a/>").find("f.xml:1:14: entities"),
            std::string::npos);
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "<a>";
  for (int i = 0; i < 1000; ++i) deep += "</a>";
  EXPECT_NE(refused(deep).find("more elements in one another"), std::string::npos);
}

TEST(XmlCheck, RefusesEveryTruncation) {
  const std::string text = "<?xml version=\"1.0\"?>\n<a x=\"1\"><!-- c --><b>t</b><c/></a>";
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_NE(refused(text.substr(0, size)), "") << size;
  }
  EXPECT_EQ(refused(text), "");
}

}  // namespace
}  // namespace busbar::topo
