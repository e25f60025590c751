// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/onnx_file.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include <weir/engine/model/check.hpp>
#include <weir/io/number_text.hpp>

namespace weir::training {

namespace {

/// One field of a message of protocol buffers' wire format.
struct Field {
  std::uint64_t number = 0;
  bool is_bytes = false;
  std::uint64_t value = 0;   ///< Unless bytes.
  std::string_view bytes{};  ///< Text, a message, or packed numbers.
};

/// Reads the fields of a message one after the other, within its bounds.
class Message {
 public:
  Message(const std::string& name, std::string_view bytes) : name_(name), bytes_(bytes) {}

  std::optional<Field> next() {
    if (bytes_.empty()) return {};
    const std::uint64_t key = varint();
    Field field;
    field.number = key >> 3U;
    switch (key & 7U) {
      case 0: field.value = varint(); break;
      case 1: take(8); break;
      case 2:
        field.is_bytes = true;
        field.bytes = take(varint());
        break;
      case 5: take(4); break;
      default: fail("a field of wire type " + std::to_string(key & 7U));
    }
    return field;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return value;
    }
    fail("a number of more than 64 bits");
  }

  bool is_at_end() const { return bytes_.empty(); }

 private:
  [[noreturn]] void fail(const std::string& found) const {
    throw Error(ErrorCode::input, name_ + ": found " + found + "; expected an ONNX model");
  }

  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size()) fail("the end of the file inside a field");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  const std::string& name_;
  std::string_view bytes_;
};

/// Sizes of a tensor and bytes of one element.
struct Tensor {
  std::vector<double> sizes;
  double element_bytes = 4;

  double num_elements() const {
    double product = 1;
    for (const double size : sizes) product *= size;
    return product;
  }
  double bytes() const { return num_elements() * element_bytes; }
};

/// Of a number of TensorProto.DataType.
double element_bytes_of(std::uint64_t type) {
  switch (type) {
    case 2:
    case 3:
    case 9:
    case 17:
    case 18:
    case 19:
    case 20: return 1;
    case 4:
    case 5:
    case 10:
    case 16: return 2;
    case 7:
    case 11:
    case 13:
    case 14: return 8;
    case 15: return 16;
    default: return 4;
  }
}

class OnnxFile {
 public:
  OnnxFile(const std::string& name, std::string_view bytes) : name_(name), bytes_(bytes) {}

  OperatorGraph read() {
    bool has_graph = false;
    Message model(name_, bytes_);
    while (const auto field = model.next()) {
      if (field->number != 7 || !field->is_bytes) continue;
      read_graph(field->bytes);
      has_graph = true;
    }
    WEIR_EXPECT(has_graph, input, name_ + ": found no graph; expected an ONNX model");
    for (const Node& node : nodes_) add(node);
    for (std::size_t i = 0; i < nodes_.size(); ++i) connect(i);
    return std::move(graph_);
  }

 private:
  struct Node {
    std::string name;
    std::string kind;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
  };

  void read_graph(std::string_view bytes) {
    Message graph(name_, bytes);
    while (const auto field = graph.next()) {
      if (!field->is_bytes) continue;
      switch (field->number) {
        case 1: read_node(field->bytes); break;
        case 5: read_weight(field->bytes); break;
        case 11: inputs_.insert(read_value(field->bytes)); break;
        case 12:
        case 13: read_value(field->bytes); break;
        default: break;
      }
    }
  }

  void read_node(std::string_view bytes) {
    Node node;
    Message message(name_, bytes);
    while (const auto field = message.next()) {
      if (!field->is_bytes) continue;
      switch (field->number) {
        case 1: node.inputs.emplace_back(field->bytes); break;
        case 2: node.outputs.emplace_back(field->bytes); break;
        case 3: node.name = std::string(field->bytes); break;
        case 4: node.kind = std::string(field->bytes); break;
        default: break;
      }
    }
    if (node.name.empty()) node.name = node.kind + "#" + std::to_string(nodes_.size());
    nodes_.push_back(std::move(node));
  }

  void add_size(Tensor& tensor, std::uint64_t size) const {
    WEIR_EXPECT(size <= (std::uint64_t{1} << 40U), input,
                name_ + ": found a tensor of " + std::to_string(static_cast<std::int64_t>(size)) +
                    " elements along one side; expected 0 to 2^40");
    WEIR_EXPECT(tensor.sizes.size() < 16, input,
                name_ + ": found a tensor of more than 16 sides; expected fewer");
    tensor.sizes.push_back(static_cast<double>(size));
  }

  void read_weight(std::string_view bytes) {
    std::string name;
    Tensor tensor;
    Message message(name_, bytes);
    while (const auto field = message.next()) {
      if (field->number == 1 && field->is_bytes) {
        Message packed(name_, field->bytes);
        while (!packed.is_at_end()) add_size(tensor, packed.varint());
      } else if (field->number == 1) {
        add_size(tensor, field->value);
      } else if (field->number == 2 && !field->is_bytes) {
        tensor.element_bytes = element_bytes_of(field->value);
      } else if (field->number == 8 && field->is_bytes) {
        name = std::string(field->bytes);
      }
    }
    weights_[name] = std::move(tensor);
  }

  /// A named value and its shape, unless a size is not known.
  std::string read_value(std::string_view bytes) {
    std::string name;
    std::optional<Tensor> tensor;
    Message message(name_, bytes);
    while (const auto field = message.next()) {
      if (field->number == 1 && field->is_bytes) name = std::string(field->bytes);
      if (field->number == 2 && field->is_bytes) tensor = read_type(field->bytes);
    }
    if (tensor) shapes_[name] = std::move(*tensor);
    return name;
  }

  std::optional<Tensor> read_type(std::string_view bytes) const {
    std::optional<Tensor> tensor;
    Message type(name_, bytes);
    while (const auto field = type.next()) {
      if (field->number == 1 && field->is_bytes) tensor = read_tensor_type(field->bytes);
    }
    return tensor;
  }

  std::optional<Tensor> read_tensor_type(std::string_view bytes) const {
    Tensor tensor;
    bool is_known = false;
    Message type(name_, bytes);
    while (const auto field = type.next()) {
      if (field->number == 1 && !field->is_bytes) {
        tensor.element_bytes = element_bytes_of(field->value);
      }
      if (field->number == 2 && field->is_bytes) is_known = read_shape(field->bytes, tensor);
    }
    if (!is_known) return {};
    return tensor;
  }

  /// False where a size is a name.
  bool read_shape(std::string_view bytes, Tensor& tensor) const {
    Message shape(name_, bytes);
    while (const auto field = shape.next()) {
      if (field->number != 1 || !field->is_bytes) continue;
      std::optional<std::uint64_t> size;
      Message side(name_, field->bytes);
      while (const auto part = side.next()) {
        if (part->number == 1 && !part->is_bytes) size = part->value;
      }
      if (!size) return false;
      add_size(tensor, *size);
    }
    return true;
  }

  const Tensor* find(const std::string& value) const {
    if (const auto weight = weights_.find(value); weight != weights_.end()) return &weight->second;
    const auto shape = shapes_.find(value);
    return shape == shapes_.end() ? nullptr : &shape->second;
  }

  const Tensor& shape_of(const std::string& value, const Node& node) const {
    const Tensor* tensor = find(value);
    WEIR_EXPECT(tensor, input,
                name_ + ": operator " + io::shown(node.name) + ": found no shape of " +
                    io::shown(value) + "; expected a model whose shapes were inferred");
    return *tensor;
  }

  /// Operations for one element of the output.
  double flops_per_element(const Node& node) const {
    const bool is_product = node.kind == "MatMul" || node.kind == "Gemm";
    if ((!is_product && node.kind != "Conv") || node.inputs.size() < 2) return 1;
    const Tensor& weights = shape_of(node.inputs[1], node);
    if (!is_product) {  // channels out, channels in, sides of the kernel
      return weights.sizes.empty() || weights.sizes.front() == 0
                 ? 0
                 : 2 * weights.num_elements() / weights.sizes.front();
    }
    // Both sides are columns of the output or summed over; whichever the first input ends in.
    const Tensor& output = shape_of(node.outputs.front(), node);
    const double columns = output.sizes.empty() ? 1 : output.sizes.back();
    double sides = 1;
    for (std::size_t i = weights.sizes.size() < 2 ? 0 : weights.sizes.size() - 2;
         i < weights.sizes.size(); ++i) {
      sides *= weights.sizes[i];
    }
    return columns > 0 ? 2 * sides / columns : 0;
  }

  void add(const Node& node) {
    constexpr double flops_per_second = 1e12;
    Operator op;
    op.name = node.name;
    op.kind = node.kind;
    double num_elements = 0;
    for (const std::string& value : node.outputs) {
      if (value.empty()) continue;  // an optional output that is not wanted
      const Tensor& output = shape_of(value, node);
      num_elements += output.num_elements();
      op.output_bytes += output.bytes();
      WEIR_EXPECT(
          producers_.emplace(value, graph_.size()).second, input,
          name_ + ": found a second operator that makes " + io::shown(value) + "; expected one");
    }
    op.activation_bytes = op.output_bytes;
    op.forward_seconds =
        node.outputs.empty() ? 0 : num_elements * flops_per_element(node) / flops_per_second;
    op.backward_seconds = 2 * op.forward_seconds;
    for (const std::string& value : node.inputs) {
      const auto weight = weights_.find(value);
      if (weight == weights_.end() || !counted_.insert(value).second) continue;
      op.parameter_bytes += weight->second.bytes();
    }
    graph_.add(std::move(op));
  }

  void connect(std::size_t consumer) {
    for (const std::string& value : nodes_[consumer].inputs) {
      if (value.empty() || weights_.contains(value)) continue;
      const auto producer = producers_.find(value);
      if (producer != producers_.end()) {
        graph_.connect(producer->second, consumer);
        continue;
      }
      WEIR_EXPECT(inputs_.contains(value), input,
                  name_ + ": operator " + io::shown(nodes_[consumer].name) +
                      ": found no operator that makes " + io::shown(value) +
                      "; expected one, a weight, or an input of the graph");
    }
  }

  const std::string& name_;
  std::string_view bytes_;
  std::vector<Node> nodes_;
  std::unordered_map<std::string, Tensor> weights_;
  std::unordered_map<std::string, Tensor> shapes_;
  std::set<std::string> inputs_;
  std::set<std::string> counted_;  ///< Weights that an operator has already.
  std::unordered_map<std::string, std::size_t> producers_;
  OperatorGraph graph_;
};

}  // namespace

bool is_onnx(std::string_view bytes) { return bytes.starts_with('\x08'); }

OperatorGraph read_onnx(const std::string& name, std::string_view bytes) {
  return OnnxFile(name, bytes).read();
}

}  // namespace weir::training
