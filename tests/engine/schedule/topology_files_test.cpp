// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/schedule/topology_files.hpp>
#include <weir/tests/reference/graph_files.hpp>

namespace weir::schedule {

namespace {

std::string error_of(const std::string& text, const TopologyFileOptions& options = {}) {
  try {
    parse_topology("t", text, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input);
    return std::string(error.text());
  }
  return "";
}

/// Sizes of the groups of each level: `8; 4 4`.
std::string shape_of(const Topology& topology) {
  std::string text;
  for (const Level& level : topology.levels()) {
    text += text.empty() ? "" : "; ";
    std::size_t size = 0;
    for (std::size_t d = 0; d < level.group_of_device.size(); ++d) {
      ++size;
      const bool ends = d + 1 == level.group_of_device.size() ||
                        level.group_of_device[d + 1] != level.group_of_device[d];
      if (ends) text += std::to_string(size) + (d + 1 < level.group_of_device.size() ? " " : "");
      if (ends) size = 0;
    }
  }
  return text;
}

constexpr const char* hybrid_cube_mesh =  // eight V100, as a DGX-1V prints them
    "\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tGPU4\tGPU5\tGPU6\tGPU7\tmlx5_0\tCPU Affinity\x1b[0m\n"
    "GPU0\t X \tNV1\tNV1\tNV2\tNV2\tSYS\tSYS\tSYS\tPIX\t0-19\n"
    "GPU1\tNV1\t X \tNV2\tNV1\tSYS\tNV2\tSYS\tSYS\tPIX\t0-19\n"
    "GPU2\tNV1\tNV2\t X \tNV2\tSYS\tSYS\tNV1\tSYS\tPHB\t0-19\n"
    "GPU3\tNV2\tNV1\tNV2\t X \tSYS\tSYS\tSYS\tNV1\tPHB\t0-19\n"
    "GPU4\tNV2\tSYS\tSYS\tSYS\t X \tNV1\tNV1\tNV2\tSYS\t20-39\n"
    "GPU5\tSYS\tNV2\tSYS\tSYS\tNV1\t X \tNV2\tNV1\tSYS\t20-39\n"
    "GPU6\tSYS\tSYS\tNV1\tSYS\tNV1\tNV2\t X \tNV2\tSYS\t20-39\n"
    "GPU7\tSYS\tSYS\tSYS\tNV1\tNV2\tNV1\tNV2\t X \tSYS\t20-39\n"
    "mlx5_0\tPIX\tPIX\tPHB\tPHB\tSYS\tSYS\tSYS\tSYS\t X \n"
    "\nLegend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe\n";

TEST(TopologyFilesTest, NvidiaSmi) {
  const Topology mesh = parse_topology("t", hybrid_cube_mesh);
  EXPECT_EQ(shape_of(mesh).substr(0, 6), "8; 4 4");
  EXPECT_EQ(mesh.levels()[0].name, "SYS");
  EXPECT_EQ(mesh.levels()[1].name, "NV1");
  EXPECT_DOUBLE_EQ(mesh.link_between(0, 1).bandwidth, 25e9);

  const Topology nvswitch = parse_topology("t",
                                           "\tGPU0\tGPU1\tNIC0\tCPU Affinity\n"
                                           "GPU0\t X \tNV18\tPIX\t0-47\n"
                                           "GPU1\tNV18\t X \tSYS\t0-47\n"
                                           "NIC0\tPIX\tSYS\t X \n");
  EXPECT_EQ(shape_of(nvswitch), "2");
  EXPECT_DOUBLE_EQ(nvswitch.levels()[0].link.bandwidth, 450e9);

  const Topology pcie = parse_topology("t",
                                       "\tGPU0\tGPU1\tGPU2\n"
                                       "GPU0\t X \tPIX\tSYS\n"
                                       "GPU1\tPIX\t X \tSYS\n"
                                       "GPU2\tSYS\tSYS\t X \n");
  EXPECT_EQ(shape_of(pcie), "3; 2 1");
  EXPECT_EQ(pcie.levels()[1].name, "PIX");
}

TEST(TopologyFilesTest, NvidiaSmiFaultsNameTheirLine) {
  EXPECT_EQ(error_of("\tGPU0\tGPU1\nGPU0\t X \tNV1\nGPU1\tNV2\t X \n"),
            "t:3: found \"NV2\" for GPU0; expected the same as in line 2");
  EXPECT_EQ(error_of("\tGPU0\tGPU1\nGPU0\t X \n"),
            "t:2: found 1 columns; expected 2, one for each GPU of the header");
  EXPECT_EQ(error_of("\tGPU0\tGPU1\nGPU0\t X \tQPI\n"),
            "t:2: found \"QPI\" for GPU1; expected NV1 and so on, PIX, PXB, PHB, NODE or SYS");
  EXPECT_EQ(error_of("\tGPU0\tGPU1\nGPU0\t X \tSYS\n"),
            "t:2: found the end after 1 rows; expected 2");
  EXPECT_EQ(error_of("\tGPU0\tGPU1\nGPU1\t X \tSYS\n"),
            "t:2: found a row of \"GPU1\"; expected GPU0");
}

TEST(TopologyFilesTest, Nccl) {
  const char* const text =
      "<system version=\"1\">\n"
      "<cpu numaid=\"0\"><pci busid=\"a\" class=\"0x060400\" link_speed=\"16 GT/s\" "
      "link_width=\"16\">\n"
      " <pci busid=\"a0\" class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"16\"/>\n"
      " <pci busid=\"a1\" class=\"0x020700\" link_speed=\"16 GT/s\" link_width=\"16\"/>\n"
      " <pci busid=\"a2\" class=\"0x030200\" link_speed=\"8 GT/s\" "
      "link_width=\"16\"/></pci></cpu>\n"
      "<cpu numaid=\"1\"><pci busid=\"b0\" class=\"0x030200\"/></cpu></system>\n";
  const Topology node = parse_topology("t", text);
  EXPECT_EQ(shape_of(node), "3; 2 1");
  EXPECT_EQ(node.levels()[1].name, "pci");
  EXPECT_NEAR(node.levels()[1].link.bandwidth, 15.754e9, 1e6);

  std::string linked;
  for (const char* bus : {"a0", "a2", "b0"}) {
    linked += std::string("<cpu><pci busid=\"") + bus +
              "\"><gpu dev=\"0\"><nvlink target=\"x\" count=\"12\" tclass=\"0x068000\"/></gpu>"
              "</pci></cpu>";
  }
  const Topology nvswitch = parse_topology("t", "<system>" + linked + "</system>");
  EXPECT_EQ(shape_of(nvswitch), "3");
  EXPECT_DOUBLE_EQ(nvswitch.levels()[0].link.bandwidth, 300e9);

  EXPECT_EQ(error_of("<system>\n<cpu>\n<pci class=\"0x030200\"/></cpu></system>"),
            "t:3: found a pci without busid; expected one");
  EXPECT_EQ(error_of("<system>\n<cpu/></system>"), "t:1: found no GPU; expected at least one");
  EXPECT_EQ(error_of("<system>\n<cpu>\n</system>").substr(0, 27), "t:3: found what is no XML: ");
}

TEST(TopologyFilesTest, Hwloc) {
  const auto core = [](int n) {
    return "<object type=\"Core\" os_index=\"" + std::to_string(n) + "\"/>";
  };
  const std::string text =
      "<topology version=\"2.0\">\n<object type=\"Machine\">\n<object type=\"Package\">" + core(0) +
      core(1) + "</object>\n<object type=\"Package\">" + core(2) + core(3) +
      "</object></object></topology>";
  EXPECT_EQ(shape_of(parse_topology("t", text)), "4; 2 2");
  EXPECT_EQ(error_of("<topology>\n<object/></topology>"),
            "t:2: found an object without type; expected one");
  EXPECT_EQ(error_of("<topology>\n</topology>"), "t:1: found neither GPU nor core; expected one");
  std::string deep = "<topology>";
  for (int i = 0; i < 5000; ++i) deep += "<object type=\"Group\">";
  for (int i = 0; i < 5000; ++i) deep += "</object>";
  EXPECT_EQ(error_of(deep + "</topology>"),
            "t:1: found elements nested over 100 deep; expected the tree of a machine");
}

TEST(TopologyFilesTest, SlurmTrees) {
  const std::string text =
      "# a tree\nSwitchName=s1 Nodes=n[00-03]\nSwitchName=s2 Nodes=n04,n[05,06-07] LinkSpeed=9\n"
      "switchname=top switches=s[1-2]\n";
  const Topology tree = parse_topology("t", text);
  EXPECT_EQ(shape_of(tree), "8; 4 4");
  EXPECT_EQ(tree.devices()[7].name, "n07");
  TopologyFileOptions options;
  options.devices_per_node = 4;
  const Topology devices = parse_topology("t", text, options);
  EXPECT_EQ(devices.num_devices(), 32U);
  EXPECT_EQ(devices.levels().size(), 3U);
  EXPECT_DOUBLE_EQ(devices.link_between(0, 3).bandwidth, 300e9);
  EXPECT_EQ(devices.devices()[5].name, "n01.1");
  EXPECT_EQ(shape_of(parse_topology("t", "SwitchName=a Nodes=x,y\nSwitchName=b Nodes=z\n")),
            "3; 2 1");
}

TEST(TopologyFilesTest, SlurmBlocks) {
  const Topology blocks = parse_topology(
      "t", "BlockName=b1 Nodes=n[1-18]\nBlockName=b2 Nodes=n[19-36]\nBlockSizes=18,36\n");
  EXPECT_EQ(shape_of(blocks), "36; 18 18");
  EXPECT_EQ(blocks.levels()[1].name, "block");
}

TEST(TopologyFilesTest, SlurmFaultsNameTheirLine) {
  EXPECT_EQ(error_of("SwitchName=a Nodes=x\nSwitchName=b Nodes=x\n"),
            "t:2: found node \"x\", which is at a; expected each node once");
  EXPECT_EQ(error_of("SwitchName=a Switches=b\n"),
            "t:1: found switch \"b\"; expected one that the file describes");
  EXPECT_EQ(error_of("SwitchName=a Switches=b\nSwitchName=b Switches=a\n"),
            "t:1: found switch \"a\" over 16 deep or below itself; expected a tree");
  EXPECT_EQ(error_of("SwitchName=a Nodes=n[3-1]\n"),
            "t:1: found \"3-1\"; expected FIRST-LAST, up to 2^20 nodes");
  EXPECT_EQ(error_of("SwitchName=a Nodes=n[1-99999999]\n"),
            "t:1: found \"1-99999999\"; expected FIRST-LAST, up to 2^20 nodes");
  EXPECT_EQ(error_of("SwitchName=a\n"),
            "t:1: found switch \"a\"; expected Nodes= or Switches=, one of them");
  EXPECT_EQ(error_of("SwitchName=a Nodes=x\nBlockName=b Nodes=y\n"),
            "t:2: found switches and blocks; expected one of them");
  EXPECT_EQ(error_of("SwitchName=a Nodes=x Speed=3\n"),
            "t:1: found \"Speed=3\"; expected SwitchName, BlockName, Nodes, Switches or LinkSpeed");
}

TEST(TopologyFilesTest, AstraSim) {
  const Topology network =
      parse_topology("t",
                     "topology: [ Ring, Switch ]\nnpus_count: [ 4, 2 ]\n"
                     "bandwidth: [ 400.0, 50 ]  # GB/s\nlatency: [ 500, 1000 ]\n");
  EXPECT_EQ(shape_of(network), "8; 4 4");
  EXPECT_DOUBLE_EQ(network.link_between(0, 1).bandwidth, 400e9);
  EXPECT_DOUBLE_EQ(network.link_between(0, 4).latency_seconds, 1e-6);
  EXPECT_EQ(error_of("topology: [ Ring ]\nnpus_count: [ 4, 2 ]\nbandwidth: [1]\nlatency: [1]\n"),
            "t:2: found 2 entries of npus_count; expected 1, as many as of topology");
  EXPECT_EQ(error_of("topology: [ Torus ]\nnpus_count: [4]\nbandwidth: [1]\nlatency: [1]\n"),
            "t:1: found \"Torus\"; expected Ring, FullyConnected or Switch");
  EXPECT_EQ(error_of("topology: [ Ring ]\nnpus_count: [x]\nbandwidth: [1]\nlatency: [1]\n"),
            "t:2: found npus_count \"x\"; expected a number of more than 0");
  EXPECT_EQ(error_of("topology: [ Ring\nnpus_count: [4]\n").substr(0, 4), "t:2:");
}

TEST(TopologyFilesTest, OtherFilesAreRefused) {
  EXPECT_EQ(error_of("hello\n").substr(0, 39), "t:1: found no topology that weir knows;");
  EXPECT_NE(error_of(""), "");
}

TEST(TopologyFilesTest, PublishedFiles) {
  const auto data = reference::data_folder();
  if (!data) GTEST_SKIP() << "no shared test data: set WEIR_TEST_DATA";
  const auto folder = *data / "training" / "topology";
  const Topology a100 = read_topology(folder / "nccl-ndv4-a100.xml");
  EXPECT_EQ(shape_of(a100), "8; 2 2 2 2");
  EXPECT_NEAR(a100.levels()[1].link.bandwidth, 31.5e9, 0.1e9);
  const Topology h100 = read_topology(folder / "nccl-ndv5-h100.xml");
  EXPECT_EQ(h100.num_devices(), 8U);
  EXPECT_NEAR(h100.levels()[0].link.bandwidth, 63e9, 0.1e9);
  const Topology hgx = read_topology(folder / "astra-hgx-h100.yml");
  EXPECT_EQ(shape_of(hgx), "8");
  EXPECT_DOUBLE_EQ(hgx.levels()[0].link.bandwidth, 400e9);
  EXPECT_DOUBLE_EQ(hgx.levels()[0].link.latency_seconds, 936.25e-9);
  const Topology dgx2 = read_topology(folder / "hwloc-nvidiaDGX2.xml");
  EXPECT_EQ(shape_of(dgx2), "16");
  EXPECT_DOUBLE_EQ(dgx2.levels()[0].link.bandwidth, 150e9);  // six NVLinks of 25 GB/s
  EXPECT_EQ(shape_of(read_topology(folder / "hwloc-16amd64-4distances.xml")),
            "16; 8 8; 2 2 2 2 2 2 2 2");
  const Topology cores = read_topology(folder / "hwloc-96core-4node-pci.xml");
  EXPECT_EQ(cores.num_devices(), 96U);
  EXPECT_EQ(cores.num_groups(1), 4U);
}

}  // namespace

}  // namespace weir::schedule
