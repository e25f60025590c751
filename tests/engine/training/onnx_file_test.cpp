// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/onnx_file.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/training/graph_files.hpp>

namespace weir::training {

namespace {

// Just enough of the wire format, written down from its description.

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>((value & 0x7FU) | 0x80U);
  return bytes + static_cast<char>(value);
}
std::string number(unsigned field, std::uint64_t value) {
  return varint(field << 3U) + varint(value);
}
std::string bytes(unsigned field, const std::string& text) {
  return varint(field << 3U | 2U) + varint(text.size()) + text;
}

constexpr unsigned node = 1, initializer = 5, graph_input = 11, graph_output = 12, value_info = 13;

std::string operation(const std::string& name, const std::string& kind,
                      const std::vector<std::string>& inputs, const std::string& output) {
  std::string text;
  for (const std::string& input : inputs) text += bytes(1, input);
  return bytes(node, text + bytes(2, output) + bytes(3, name) + bytes(4, kind));
}

std::string value(unsigned field, const std::string& name, const std::vector<int>& sizes) {
  std::string shape;
  for (const int size : sizes) {
    shape += bytes(1, number(1, static_cast<std::uint64_t>(size)));
  }
  return bytes(field, bytes(1, name) + bytes(2, bytes(1, number(1, 1) + bytes(2, shape))));
}

std::string weight(const std::string& name, const std::vector<int>& sizes, bool is_packed) {
  std::string dims;
  for (const int size : sizes) {
    const auto dim = static_cast<std::uint64_t>(size);
    dims += is_packed ? varint(dim) : number(1, dim);
  }
  return bytes(initializer, (is_packed ? bytes(1, dims) : dims) + number(2, 1) + bytes(8, name));
}

std::string model(const std::string& graph) { return number(1, 8) + bytes(7, graph); }

/// A convolution, a branch that is added to it, and a product.
std::string small_model() {
  return model(value(graph_input, "x", {1, 3, 8, 8}) + weight("w", {4, 3, 3, 3}, true) +
               weight("m", {256, 10}, false) + operation("conv", "Conv", {"x", "w"}, "a") +
               operation("act", "Relu", {"a"}, "b") + operation("sum", "Add", {"a", "b"}, "c") +
               operation("", "MatMul", {"c", "m"}, "y") + value(value_info, "a", {1, 4, 8, 8}) +
               value(value_info, "b", {1, 4, 8, 8}) + value(value_info, "c", {1, 256}) +
               value(graph_output, "y", {1, 10}));
}

std::string refusal(const std::string& text) {
  try {
    parse_operator_graph("f.onnx", text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input);
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(OnnxFile, OperatorsWithTheirOperationsAndBytes) {
  const OperatorGraph graph = parse_operator_graph("f.onnx", small_model());
  ASSERT_EQ(graph.size(), 4U);
  EXPECT_EQ(graph.num_edges(), 4U);
  EXPECT_EQ(graph.consumers(0), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(graph[0].kind, "Conv");
  EXPECT_EQ(graph[0].output_bytes, 4.0 * 256);
  EXPECT_EQ(graph[0].parameter_bytes, 4.0 * 4 * 27);
  EXPECT_DOUBLE_EQ(graph[0].forward_seconds, 2e-12 * 27 * 256);
  EXPECT_DOUBLE_EQ(graph[0].backward_seconds, 4e-12 * 27 * 256);
  EXPECT_DOUBLE_EQ(graph[1].forward_seconds, 1e-12 * 256);
  EXPECT_EQ(graph[3].name, "MatMul#3");
  EXPECT_EQ(graph[3].parameter_bytes, 4.0 * 2560);
  EXPECT_DOUBLE_EQ(graph[3].forward_seconds, 2e-12 * 2560);
}

TEST(OnnxFile, FaultsAreNamed) {
  expect_part(refusal(model(operation("r", "Relu", {"x"}, "y"))), "no shape of \"y\"");
  expect_part(refusal(model(operation("r", "Relu", {"x"}, "y") + value(graph_output, "y", {2}))),
              "no operator that makes \"x\"");
  expect_part(
      refusal(model(operation("r", "Relu", {"y"}, "x") + operation("s", "Relu", {"x"}, "y") +
                    value(value_info, "x", {2}) + value(value_info, "y", {2}))),
      "found a cycle of operators: r -> s -> r");
  expect_part(refusal(number(1, 8)), "found no graph");
  expect_part(refusal(model("")), "no operator");
  expect_part(refusal(std::string("\x08\x08\x3f", 3)), "wire type 7");
  expect_part(refusal("\x08" + std::string(11, '\xff')), "more than 64 bits");
}

TEST(OnnxFile, CutOrChangedBytesAreReadOrRefused) {
  const std::string whole = small_model();
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_NE(refusal(whole.substr(0, size)), "") << size;
  }
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    std::string changed = whole;
    for (int change = 0; change < 3; ++change) {
      changed[1 + random() % (changed.size() - 1)] = static_cast<char>(random());
    }
    try {
      parse_operator_graph("f.onnx", changed);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
    }
  }
}

}  // namespace

}  // namespace weir::training
