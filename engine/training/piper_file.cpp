// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>

#include <nlohmann/json.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/training/graph_text.hpp>

namespace weir::training {

namespace {

using Json = nlohmann::json;

class PiperFile {
 public:
  PiperFile(const Text& text, PiperVariant variant) : text_(text), variant_(variant) {}

  OperatorGraph read() {
    const Json file = parse();
    for (const Json& node : member(file, "nodes", "the file")) read_node(node);
    std::size_t number = 0;
    for (const Json& edge : member(file, "edges", "the file")) read_edge(edge, number++);
    OperatorGraph graph;
    for (Operator& op : operators_) graph.add(std::move(op));
    for (const auto& [producer, consumer] : edges_) graph.connect(producer, consumer);
    return graph;
  }

 private:
  [[noreturn]] void fail(const std::string& where, const std::string& found,
                         const std::string& expected) const {
    throw Error(ErrorCode::input,
                text_.name + ": " + where + ": found " + found + "; expected " + expected);
  }

  Json parse() const {
    std::string joined;
    for (const std::string& line : text_.lines) joined += line + '\n';
    try {
      return Json::parse(joined);
    } catch (const Json::parse_error& error) {
      const auto end =
          joined.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, joined.size()));
      text_.fail(static_cast<std::size_t>(std::count(joined.begin(), end, '\n')), "what is no JSON",
                 "a Piper description in JSON");
    } catch (const Json::exception& error) {  // a number that no double holds
      fail("the file", std::string("what cannot be read: ") + error.what(), "a Piper description");
    }
  }

  const Json& member(const Json& object, const std::string& key, const std::string& where) const {
    if (!object.is_object() || !object.contains(key)) fail(where, "no " + key, "one");
    return object[key];
  }

  double amount(const Json& object, const std::string& key, const std::string& where) const {
    const Json& value = member(object, key, where);
    if (!value.is_number() || value.get<double>() < 0) {
      fail(where, key + " " + value.dump(), "a number, not negative");
    }
    return value.get<double>();
  }

  std::string id_of(const Json& object, const std::string& key, const std::string& where) const {
    const Json& id = member(object, key, where);
    if (!id.is_number_integer()) fail(where, key + " " + id.dump(), "an integer");
    return id.dump();
  }

  void read_node(const Json& node) {
    const std::string place = "nodes[" + std::to_string(operators_.size()) + "]";
    const std::string id = id_of(node, "id", place);
    const std::string where = "operator " + id;
    if (!numbers_.emplace(id, operators_.size()).second) {
      fail(place, "a second operator " + id, "each once");
    }
    const Json& variant = find_variant(member(node, "TMPCs", where), where);
    Operator op;
    const Json& name = member(node, "name", where);
    op.kind = name.is_string() ? name.get<std::string>() : name.dump();
    op.name = id;
    op.forward_seconds = amount(variant, "timePerSample", where);
    op.parameter_bytes = amount(variant, "parameterSize", where);
    op.activation_bytes = amount(variant, "memoryUsageA", where);
    operators_.push_back(std::move(op));
  }

  const Json& find_variant(const Json& degrees, const std::string& where) const {
    const std::string degree = std::to_string(variant_.tensor_parallel_degree);
    if (!degrees.is_object() || !degrees.contains(degree)) {
      fail(where, "no variant for tensor-parallel degree " + degree, "one");
    }
    const std::string wanted = variant_.recomputes_activations ? "activation recomp" : "vanilla";
    for (const Json& variant : degrees[degree]) {
      if (variant.is_object() && variant.value("id", Json()) == wanted) return variant;
    }
    fail(where, "no variant \"" + wanted + "\" for tensor-parallel degree " + degree, "one");
  }

  void read_edge(const Json& edge, std::size_t number) {
    const std::string where = "edges[" + std::to_string(number) + "]";
    const std::size_t producer = number_of(id_of(edge, "sourceId", where), where);
    const std::size_t consumer = number_of(id_of(edge, "destId", where), where);
    double& output = operators_[producer].output_bytes;
    output = std::max(output, amount(edge, "communicationCost", where));
    edges_.emplace_back(producer, consumer);
  }

  std::size_t number_of(const std::string& id, const std::string& where) const {
    const auto found = numbers_.find(id);
    if (found == numbers_.end()) fail(where, "operator " + id, "one of nodes");
    return found->second;
  }

  const Text& text_;
  PiperVariant variant_;
  std::vector<Operator> operators_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<std::pair<std::size_t, std::size_t>> edges_;
};

}  // namespace

OperatorGraph read_piper(const Text& text, PiperVariant variant) {
  return PiperFile(text, variant).read();
}

}  // namespace weir::training
