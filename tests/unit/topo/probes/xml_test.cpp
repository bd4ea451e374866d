// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/xml.hpp"

namespace busbar::topo {
namespace {

std::string xml_refusal(const std::string& text) {
  return test::failure_of([&] { const XmlFile file(text, "f.xml", "fix it"); }).message;
}

void expect_xml_refused(const std::string& text, const std::string& token) {
  EXPECT_NE(xml_refusal(text).find(token), std::string::npos) << xml_refusal(text);
}

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST(XmlFile, HasTheOutermostElementAndItsPlace) {
  const std::string text = "<?xml version=\"1.0\"?>\n<!-- c -->\n<a version=\"7\"><b/></a>\n";
  const std::string origin = "f.xml";
  const XmlFile file(text, origin, "fix it");
  EXPECT_STREQ(file.root().name(), "a");
  EXPECT_EQ(file.place(file.root()), "f.xml:3:2");
  EXPECT_EQ(test::failure_of([&] { file.fail(file.root(), "what"); }).message,
            "f.xml:3:2: what; fix it");
}

TEST(XmlFile, NamesThePlaceOfAFault) {
  expect_xml_refused("<a>\n <b x=1/>\n</a>", "f.xml:2:7: ");
  expect_xml_refused("<a>\n <b x=1/>\n</a>", "damaged or cut short; fix it");
}

TEST(XmlFile, RefusesWhatIsNoWholeDocument) {
  expect_xml_refused("", "no XML element");
  expect_xml_refused(" \n", "f.xml:2:1: no XML element");
  expect_xml_refused("<!-- only -->", "no XML element");
  expect_xml_refused("hello", "f.xml:1:1: text outside");
  expect_xml_refused("<a><b></a>", "damaged");
  expect_xml_refused("<a/><b/>", "a second outermost element");
  expect_xml_refused("<a/>tail", "f.xml:1:5: text outside");
  expect_xml_refused("head<a/>", "text outside");
  expect_xml_refused(std::string("<a/>\0", 5), "f.xml:1:5: a zero byte");
}

TEST(XmlFile, RefusesEntitiesAndDepthsThatExhaustReaders) {
  expect_xml_refused("<!DOCTYPE a [<!ENTITY x \"y\">]><a/>", "f.xml:1:14: entities");
  EXPECT_EQ(xml_refusal(repeated("<a>", 128) + repeated("</a>", 128)), "");
  expect_xml_refused(repeated("<a>", 129) + repeated("</a>", 129), "more elements in one another");
}

TEST(XmlFile, RefusesEveryTruncation) {
  const std::string text = "<?xml version=\"1.0\"?>\n<a x=\"1\"><!-- c --><b>t</b><c/></a>";
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_NE(xml_refusal(text.substr(0, size)), "") << size;
  }
  EXPECT_EQ(xml_refusal(text), "");
}

}  // namespace
}  // namespace busbar::topo
