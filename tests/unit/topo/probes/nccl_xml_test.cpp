// SPDX-License-Identifier: BSD-3-Clause
// What is read of XML, and NCCL's topology in it.
#include "tests/unit/topo/probes/tree_text.hpp"
#include "topo/probes/xml.hpp"

namespace busbar::topo {
namespace {

using sample::count_kind;
using sample::lines_of;
using sample::pcie_path;
using test::text_of;
using testing::FieldsAre;

TEST(HostTree, NamesVendorsOfProcessors) {
  EXPECT_EQ(cpu_vendor("GenuineIntel", "x86_64"), "intel");
  EXPECT_EQ(cpu_vendor("AuthenticAMD", "x86_64"), "amd");
  EXPECT_EQ(cpu_vendor("  Shanghai  ", "x86_64"), "zhaoxin");
  EXPECT_EQ(cpu_vendor("CentaurHauls", "x86_64"), "zhaoxin");
  EXPECT_EQ(cpu_vendor("", "ppc64le"), "ibm");
  EXPECT_EQ(cpu_vendor("", "aarch64"), "arm");
  EXPECT_EQ(cpu_vendor("HygonGenuine", "x86_64"), "HygonGenuine");
  EXPECT_EQ(cpu_vendor("", "x86_64"), "");
}

void expect_xml_refused(const std::string& text, const std::string& token) {
  test::expect_failure(Status::Usage, {token, "; fix it"},
                       [&] { const XmlFile file(text, "f.xml", "fix it"); });
}

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST(XmlFile, RefusesWhatIsNoWholeDocumentAndNamesThePlaceOfTheFault) {
  expect_xml_refused("", "no XML element");
  expect_xml_refused(" \n", "f.xml:2:1: no XML element");
  expect_xml_refused("<!-- only -->", "no XML element");
  expect_xml_refused("hello", "f.xml:1:1: text outside");
  expect_xml_refused("<a>\n <b x=1/>\n</a>", "f.xml:2:7: ");
  expect_xml_refused("<a><b></a>", "damaged or cut short");
  expect_xml_refused("<a/><b/>", "a second outermost element");
  expect_xml_refused("<a/>tail", "f.xml:1:5: text outside");
  expect_xml_refused("head<a/>", "text outside");
  expect_xml_refused(std::string("<a/>\0", 5), "f.xml:1:5: a zero byte");
}

TEST(XmlFile, RefusesEntitiesAndDepthsThatExhaustReaders) {
  expect_xml_refused("<!DOCTYPE a [<!ENTITY x \"y\">]><a/>", "f.xml:1:14: entities");
  EXPECT_NO_THROW(
      static_cast<void>(XmlFile(repeated("<a>", 128) + repeated("</a>", 128), "f.xml", "fix it")));
  expect_xml_refused(repeated("<a>", 129) + repeated("</a>", 129), "more elements in one another");
}

TEST(XmlFile, RefusesEveryTruncation) {
  const std::string text = "<?xml version=\"1.0\"?>\n<a x=\"1\"><!-- c --><b>t</b><c/></a>";
  for (std::size_t size = 0; size < text.size(); ++size) {
    expect_xml_refused(text.substr(0, size), "f.xml:");
  }
  EXPECT_NO_THROW(static_cast<void>(XmlFile(text, "f.xml", "fix it")));
}

void expect_nccl_refused(const std::string& text, const std::string& token) {
  test::expect_failure(Status::Usage, token, [&] { (void)parse_nccl_xml(text, "f.xml"); });
}

/// A file of one device with these attributes, and elements in it.
std::string file_of(const std::string& attributes, const std::string& inside = {}) {
  return fmt::format(R"(<system version="1"><cpu numaid="0"><pci busid="0000:01:00.0" {}>{}</pci>)"
                     "</cpu></system>",
                     attributes, inside);
}

PciObject device_of(const std::string& attributes, const std::string& inside = {}) {
  return parse_nccl_xml(file_of(attributes, inside), "f.xml").pci.at(0);
}

TEST(NcclXml, KnowsGenerationsInBothSpellings) {
  const auto generation = [](const std::string& speed) {
    return device_of("link_speed=\"" + speed + "\"").generation;
  };
  EXPECT_EQ(generation("2.5 GT/s"), 1);
  EXPECT_EQ(generation("5 GT/s"), 2);
  EXPECT_EQ(generation("5.0 GT/s PCIe"), 2);
  EXPECT_EQ(generation("8.0 GT/s PCIe"), 3);
  EXPECT_EQ(generation("16 GT/s"), 4);
  EXPECT_EQ(generation("32.0 GT/s PCIe"), 5);
  EXPECT_EQ(generation("64.0 GT/s PCIe"), 6);
  EXPECT_EQ(generation(""), 0);
  EXPECT_EQ(generation("Unknown speed"), 0);
  for (const char* speed : {"fast", "9 GT/s", "16", "16 Gb/s", "0x10 GT/s"}) {
    expect_nccl_refused(file_of(fmt::format("link_speed=\"{}\"", speed)),
                        fmt::format("link_speed='{}'", speed));
  }
}

TEST(NcclXml, KnowsKindsByWhatIsInsideElseByClassAndVendor) {
  const auto kind = [](unsigned class_code, unsigned vendor, const std::string& inside = {}) {
    return device_of(fmt::format(R"(class="0x{:04x}00" vendor="0x{:04x}")", class_code, vendor),
                     inside)
        .kind;
  };
  EXPECT_EQ(kind(0x0302, 0x10de), PciKind::Gpu);
  EXPECT_EQ(kind(0x0300, 0), PciKind::Gpu);
  EXPECT_EQ(kind(0x0300, 0x1a03), PciKind::Other);
  EXPECT_EQ(kind(0x0207, 0x15b3), PciKind::Nic);
  EXPECT_EQ(kind(0x0604, 0x1000), PciKind::Switch);
  EXPECT_EQ(kind(0x0680, 0x10de), PciKind::NvSwitch);
  EXPECT_EQ(kind(0x0680, 0x1000), PciKind::Other);
  EXPECT_EQ(kind(0, 0), PciKind::Other);
  EXPECT_EQ(kind(0, 0, "<gpu/>"), PciKind::Gpu);
  EXPECT_EQ(kind(0, 0, "<nic/>"), PciKind::Nic);
  EXPECT_EQ(kind(0, 0, R"(<pci busid="0000:02:00.0"/>)"), PciKind::Switch);
}

TEST(NcclXml, KnowsWhatNvlinksEndAt) {
  const auto kind = [](const std::string& target_class) {
    const std::string link = R"(<nvlink target="0000:09:00.0" count="1" tclass=")" + target_class;
    return parse_nccl_xml(file_of("", "<gpu>" + link + "\"/></gpu>"), "f").nvlinks.at(0).kind;
  };
  EXPECT_EQ(kind("0x030200"), NvlinkKind::Gpu);
  EXPECT_EQ(kind("0x030000"), NvlinkKind::Gpu);
  EXPECT_EQ(kind("0x068000"), NvlinkKind::NvSwitch);
  EXPECT_EQ(kind("0x068001"), NvlinkKind::PowerBridge);
  EXPECT_EQ(kind("0"), NvlinkKind::Unknown);
}

TEST(NcclXml, ReadsAffinityMasks) {
  const auto with_mask = [](const std::string& mask) {
    return fmt::format(R"(<system version="1"><cpu numaid="0" affinity="{}"/></system>)", mask);
  };
  for (const auto& [mask, has_cpus] : {std::pair{"000000ff,ffff0000,00ffffff", true},
                                       {"0x00000000,A", true},
                                       {"00000000,00000000", false},
                                       {"", false}}) {
    EXPECT_EQ(parse_nccl_xml(with_mask(mask), "f").numa.at(0).has_cpus, has_cpus) << mask;
  }
  expect_nccl_refused(with_mask("0-3"), "affinity");
}

/// GPUs 04 and 05 below one switch with NIC 06, GPU 84 on another node; 04 and 05 joined by two
/// NVLinks, 84 by three to a switch and by one to a GPU outside.
constexpr const char* kSample = R"(<system version="1">
  <cpu numaid="0" affinity="0000000f" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85">
    <pci busid="0000:02:00.0" class="0x060400" link_speed="8.0 GT/s PCIe" link_width="16">
      <pci busid="0000:04:00.0" class="0x030200" vendor="0x10de" link_speed="8 GT/s" link_width="16">
        <gpu dev="0" sm="70" rank="0" gdr="1">
          <nvlink target="0000:05:00.0" count="2" tclass="0x030200"/>
        </gpu>
      </pci>
      <pci busid="0000:05:00.0" class="0x030200" link_speed="" link_width="0">
        <gpu dev="1" sm="70" rank="1"><nvlink target="0000:04:00.0" count="2" tclass="0x030200"/></gpu>
      </pci>
      <pci busid="0000:06:00.0" class="0x020700" link_speed="8 GT/s" link_width="8">
        <nic><net name="mlx5_0" dev="0" speed="100000" port="1"/></nic>
      </pci>
    </pci>
  </cpu>
  <cpu numaid="1" affinity="000000f0" arch="ppc64">
    <pci busid="0000:84:00.0" class="0x030200">
      <gpu dev="2" sm="70">
        <nvlink target="0000:c4:00.0" count="3" tclass="0x068000"/>
        <nvlink target="0000:90:00.0" count="1" tclass="0x030200"/>
        <nvlink target="fffffff:ffff:ff" count="4" tclass="0x068000"/>
        <c2c bw="50000" count="2"/>
      </gpu>
    </pci>
    <nic><net name="eth0" dev="1" speed="10000"/></nic>
  </cpu>
</system>
)";

std::string with(std::string text, const std::string& what, const std::string& instead) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), instead);
}

void expect_refused_with(const std::string& what, const std::string& instead,
                         const std::string& token) {
  expect_nccl_refused(with(kSample, what, instead), token);
}

TEST(NcclXml, ReadsNodesWithTheirProcessors) {
  const HostTree tree = parse_nccl_xml(kSample, "f.xml");
  EXPECT_EQ(tree.origin, "f.xml");
  EXPECT_THAT(tree.packages,
              ElementsAre(FieldsAre(0, "intel", "", 85), FieldsAre(1, "ibm", "", -1)));
  EXPECT_THAT(tree.numa, ElementsAre(FieldsAre(0, 0, true, false), FieldsAre(1, 1, true, false)));
  EXPECT_TRUE(tree.warnings.empty()) << tree.warnings.front();
  EXPECT_FALSE(tree.virtual_machine);
}

TEST(NcclXml, ReadsTheTreeOfDevices) {
  const HostTree tree = parse_nccl_xml(kSample, "f.xml");
  ASSERT_EQ(tree.pci.size(), 6U);
  EXPECT_EQ(tree.pci[0].kind, PciKind::Switch);
  EXPECT_EQ(tree.pci[2].generation, 0);
  EXPECT_EQ(tree.pci[2].width, 0);
  EXPECT_EQ(tree.pci[3].kind, PciKind::Nic);
  EXPECT_EQ(tree.pci[3].parent, 0);
  EXPECT_EQ(tree.pci[3].names, std::vector<std::string>{"mlx5_0"});
  EXPECT_DOUBLE_EQ(tree.pci[3].net_GBps, 12.5);
  EXPECT_EQ(tree.pci[3].width, 8);
  EXPECT_EQ(tree.pci[5].bus_id, "");
  EXPECT_EQ(tree.pci[5].kind, PciKind::Nic);
  EXPECT_EQ(tree.pci[5].numa, 1);
  EXPECT_EQ(pcie_path(tree, "04:00.0", "05:00.0"), "PIX");
  EXPECT_EQ(pcie_path(tree, "04:00.0", "84:00.0"), "SYS");
}

TEST(NcclXml, ReadsGpusAndTheirNvlinks) {
  const HostTree tree = parse_nccl_xml(kSample, "f.xml");
  EXPECT_THAT(lines_of(tree.gpus),
              ElementsAre("0   at 0000:04:00.0", "1   at 0000:05:00.0", "2   at 0000:84:00.0"));
  EXPECT_EQ(parse_nccl_xml(file_of("", "<gpu/>"), "f").gpus.at(0).index, -1);
  EXPECT_THAT(tree.nvlinks,
              ElementsAre(FieldsAre("0000:04:00.0", "0000:05:00.0", NvlinkKind::Gpu, 2),
                          FieldsAre("0000:05:00.0", "0000:04:00.0", NvlinkKind::Gpu, 2),
                          FieldsAre("0000:84:00.0", "0000:c4:00.0", NvlinkKind::NvSwitch, 3),
                          FieldsAre("0000:84:00.0", "0000:90:00.0", NvlinkKind::Gpu, 1),
                          // A switch that a virtual machine hides.
                          FieldsAre("0000:84:00.0", "ffff:ff:ff.f", NvlinkKind::NvSwitch, 4)));
}

TEST(NcclXml, ReadsSkeletonsWithoutGpuElements) {
  const HostTree tree = parse_nccl_xml(
      R"(<system version="1"><cpu numaid="0"><pci busid="0001:00:00.0" class="0x030200"/>)"
      R"(<pci busid="0101:00:00.0" class="0x020700"/><pci busid="02:00.0"/></cpu></system>)",
      "f.xml");
  EXPECT_THAT(lines_of(tree.gpus), ElementsAre("-1   at 0001:00:00.0"));
  EXPECT_EQ(count_kind(tree, PciKind::Nic), 1U);
  EXPECT_THAT(tree.warnings,
              ElementsAre(HasSubstr("1 device without a class (first: 0000:02:00.0)")));
}

// As RCCL writes it: an MI300X is a processing accelerator, earlier ones are display controllers.
TEST(NcclXml, ReadsTheXgmiOfRccl) {
  const auto gpu = [](const char* own, const char* other, const char* type, int index) {
    return fmt::format(
        R"(<pci busid="0000:{}:00.0" class="{}" vendor="0x1002" device="0x74a1" )"
        R"(link_speed="32.0 GT/s PCIe" link_width="16"><gpu dev="{}" sm="304" gcn="gfx942" rank="0">)"
        R"(<xgmi target="0000:{}:00.0" count="4" tclass="{}"/></gpu></pci>)",
        own, type, index, other, type);
  };
  for (const char* type : {"0x120000", "0x038000"}) {
    const HostTree tree = parse_nccl_xml(
        R"(<system version="2"><cpu numaid="0" arch="x86_64" vendor="AuthenticAMD">)" +
            gpu("0c", "15", type, 0) + gpu("15", "0c", type, 1) + "</cpu></system>",
        "f.xml");
    EXPECT_TRUE(tree.xgmi);
    EXPECT_TRUE(tree.warnings.empty());
    ASSERT_THAT(tree.gpus, SizeIs(2));
    EXPECT_EQ(tree.gpus[0].name, "AMD Instinct MI300X");
    EXPECT_THAT(tree.nvlinks,
                ElementsAre(FieldsAre("0000:0c:00.0", "0000:15:00.0", NvlinkKind::Gpu, 4),
                            FieldsAre("0000:15:00.0", "0000:0c:00.0", NvlinkKind::Gpu, 4)));
  }
}

TEST(NcclXml, NamesWhatElseAFileIs) {
  expect_nccl_refused("<graphs version=\"1\"/>", "f.xml:1:2: an NCCL graph");
  expect_nccl_refused("<topology version=\"2.0\"/>", "--hwloc");
  expect_refused_with("version=\"1\"", "version=\"3\"", "version '3'");
  expect_nccl_refused("<html/>", "begins with <system>");
  expect_nccl_refused("<system version=\"1\"/>", "no <cpu>");
}

TEST(NcclXml, NamesThePlaceOfABadValue) {
  expect_refused_with("link_width=\"16\"", "link_width=\"x16\"",
                      "f.xml:3:75: link_width='x16': expected a whole number from 0 to 64");
  expect_refused_with("8.0 GT/s PCIe", "quick", "f.xml:3:48: link_speed='quick'");
  expect_refused_with("dev=\"0\"", "dev=\"O\"", "f.xml:5:14: dev='O'");
  expect_refused_with("count=\"2\"", "count=\"0\"", "count='0'");
  expect_refused_with("0x060400", "6O4", "class='6O4'");
  expect_refused_with("0x060400", "0x1000000", "class='0x1000000'");
  expect_refused_with("speed=\"100000\"", "speed=\"100000001\"", "speed='100000001'");
  expect_refused_with("speed=\"100000\"", "speed=\"1e5\"", "speed='1e5'");
  EXPECT_NO_THROW(
      static_cast<void>(parse_nccl_xml(with(kSample, "speed=\"100000\"", "speed=\"0\""), "f.xml")));
  // The name is an attribute's value before it is an attribute.
  expect_refused_with(R"(name="mlx5_0" dev="0" speed="100000")", R"(name="speed" speed="x")",
                      ":32: speed='x'");
}

TEST(NcclXml, RefusesAddressesThatAreNoneOrThereTwice) {
  expect_refused_with("0000:06:00.0", "0000:06", "f.xml:12:12: busid='0000:06'");
  expect_refused_with("0000:06:00.0", "0000:05:00.0", "appears twice");
  expect_refused_with("busid=\"0000:06:00.0\"", "", "<pci> has no busid");
  expect_refused_with("target=\"0000:05:00.0\"", "target=\"GPU1\"", "target='GPU1'");
  expect_refused_with("0000:90:00.0", "0000:c4:00.0", "twice for one GPU");
  expect_refused_with("numaid=\"1\"", "numaid=\"0\"", "one host");
}

TEST(NcclXml, RefusesElementsOutOfPlace) {
  expect_refused_with(R"(<c2c bw="50000" count="2"/>)", "<net/>", "cannot be inside <gpu>");
  expect_refused_with("<c2c bw", "stray <c2c bw", "text between the elements");
  expect_refused_with("dev=\"0\"", R"(dev="0" dev="1")", "'dev' twice");
  expect_nccl_refused(file_of("", "<gpu/><gpu/>"), "a second <gpu>");
}

TEST(NcclXml, LeavesUnknownElementsOutWithAWarning) {
  const HostTree tree =
      parse_nccl_xml(with(kSample, R"(<c2c bw="50000" count="2"/>)", "<news/><news/>"), "f.xml");
  EXPECT_THAT(tree.warnings, ElementsAre("f.xml:23:10: <news> is unknown and left out"));
}

TEST(NcclXml, WarnsOfNvlinksThatDoNotFit) {
  const HostTree other = parse_nccl_xml(
      with(kSample, R"(0000:05:00.0" count="2")", R"(0000:05:00.0" count="1")"), "f");
  EXPECT_THAT(other.warnings,
              ElementsAre("asymmetric link: 0000:04:00.0 reports 1 NVLink to 0000:05:00.0, which "
                          "reports 2 back"));
  const HostTree itself =
      parse_nccl_xml(with(kSample, "target=\"0000:90:00.0", "target=\"0000:84:00.0"), "f");
  EXPECT_EQ(itself.nvlinks[3].kind, NvlinkKind::Unknown);
  EXPECT_EQ(itself.warnings.size(), 1U);
}

TEST(NcclXml, SeesVirtualMachines) {
  EXPECT_TRUE(
      parse_nccl_xml(with(kSample, "0000:02:00.0", "ffff:ff:01.0"), "f.xml").virtual_machine);
  const HostTree slow =
      parse_nccl_xml(with(kSample, R"(84:00.0" class="0x030200")",
                          R"(84:00.0" class="0x030200" link_speed="2.5 GT/s" link_width="1")"),
                     "f.xml");
  EXPECT_TRUE(slow.virtual_machine);
  const std::string idle =
      R"(<pci busid="0000:02:00.0" class="0x030200" link_speed="2.5 GT/s" link_width="1"/>)";
  EXPECT_FALSE(parse_nccl_xml(file_of("", idle), "f.xml").virtual_machine) << "a real switch's";
}

struct NcclCapture {
  const char* file;
  std::size_t gpus;
  std::size_t nics;
  std::size_t nodes;
  std::size_t nvlinks;
  const char* to_second;  ///< path from the first GPU to the second
  const char* to_nic;     ///< and to the first NIC
};

TEST(NcclXml, ReadsEveryCapture) {
  const std::filesystem::path folder = "../shared/data/nccl_topo_xml";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  for (const NcclCapture& capture : {
           NcclCapture{"aws-g5.48xl-topo.xml", 0, 0, 2, 0, "", ""},
           NcclCapture{"aws-p4d-24xl-topo.xml", 8, 4, 2, 0, "PIX", "PIX"},
           NcclCapture{"aws-p4de-24xl-topo.xml", 8, 4, 2, 0, "PIX", "PIX"},
           NcclCapture{"azure-ncv4-topo.xml", 4, 1, 4, 4, "SYS", "PHB"},
           NcclCapture{"azure-ndv2-topo.xml", 8, 1, 2, 0, "PHB", "PHB"},
           NcclCapture{"azure-ndv5-topo.xml", 8, 8, 2, 0, "PHB", "PIX"},
           NcclCapture{"oci-H100-topology-kubernetes.xml", 8, 8, 2, 32, "PHB", "PXB"},
           NcclCapture{"oci-topo-flattened-b4.xml", 8, 8, 4, 0, "PIX", "PIX"},
           NcclCapture{"oci-topo-flattened.xml", 8, 8, 4, 0, "PIX", "PIX"},
       }) {
    SCOPED_TRACE(capture.file);
    const HostTree tree = parse_nccl_xml(text_of(folder / capture.file), capture.file);
    ASSERT_EQ(tree.gpus.size(), capture.gpus);
    EXPECT_EQ(count_kind(tree, PciKind::Gpu), capture.gpus);
    EXPECT_EQ(count_kind(tree, PciKind::Nic), capture.nics);
    EXPECT_EQ(tree.numa.size(), capture.nodes);
    EXPECT_EQ(tree.nvlinks.size(), capture.nvlinks);
    if (tree.gpus.empty()) continue;
    const auto nic = std::find_if(tree.pci.begin(), tree.pci.end(), [](const PciObject& object) {
      return object.kind == PciKind::Nic;
    });
    const std::string& first = tree.gpus[0].bus_id;
    EXPECT_EQ(pcie_path(tree, first, tree.gpus[1].bus_id), capture.to_second);
    EXPECT_EQ(pcie_path(tree, first, nic->bus_id), capture.to_nic);
    EXPECT_EQ(pcie_path(tree, first, tree.gpus.back().bus_id), "SYS");
  }
  expect_nccl_refused(text_of(folder / "azure-ncv4-graph.xml"), "an NCCL graph");
}

}  // namespace
}  // namespace busbar::topo
