// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/graph_files.hpp>

#include <algorithm>
#include <array>
#include <unordered_map>

#include <weir/engine/model/check.hpp>
#include <weir/engine/training/graph_text.hpp>
#include <weir/engine/training/onnx_file.hpp>
#include <weir/io/lines.hpp>
#include <weir/io/number_text.hpp>

namespace weir::training {

namespace {

constexpr double millisecond = 1e-3;
constexpr double nanosecond = 1e-9;

constexpr std::string_view dash = " -- ";

class PipeDreamFile {
 public:
  explicit PipeDreamFile(const Text& text) : text_(text) {}

  OperatorGraph read() {
    for (std::size_t line = 0; line < text_.lines.size(); ++line) {
      const std::string& row = text_.lines[line];
      if (io::trimmed(row).empty()) continue;
      row.starts_with('\t') ? read_edge(line) : read_node(line);
    }
    for (const auto& [line, producer, consumer] : edges_) {
      graph_.connect(number_of(line, producer), number_of(line, consumer));
    }
    return std::move(graph_);
  }

 private:
  struct EdgeRow {
    std::size_t line;
    std::string_view producer;
    std::string_view consumer;
  };

  void read_edge(std::size_t line) {
    const std::string_view row = io::trimmed(text_.lines[line]);
    const auto cut = row.find(dash);
    if (cut == std::string_view::npos) text_.fail(line, io::shown(row), "PRODUCER -- CONSUMER");
    edges_.push_back({line, row.substr(0, cut), row.substr(cut + dash.size())});
  }

  void read_node(std::size_t line) {
    // The description may hold anything, so the fields are looked for from the end.
    constexpr std::string_view expected =
        "ID -- DESCRIPTION -- forward_compute_time=MS, backward_compute_time=MS, "
        "activation_size=BYTES, parameter_size=BYTES";
    const std::string_view row = text_.lines[line];
    const auto name_end = row.find(dash);
    const auto kind_end = row.rfind(" -- forward_compute_time=");
    if (name_end == std::string_view::npos || kind_end == std::string_view::npos) {
      text_.fail(line, io::shown(row), std::string(expected));
    }
    Operator op;
    op.name = std::string(row.substr(0, name_end));
    if (kind_end > name_end) {
      op.kind = std::string(row.substr(name_end + dash.size(), kind_end - name_end - dash.size()));
    }
    op.is_input = op.kind.starts_with("Input");
    std::string_view fields = row.substr(kind_end + dash.size());
    fields = fields.substr(0, fields.find(dash));  // a stage number may follow
    op.forward_seconds = take_field(line, fields, "forward_compute_time") * millisecond;
    op.backward_seconds = take_field(line, fields, "backward_compute_time") * millisecond;
    op.activation_bytes = take_field(line, fields, "activation_size");
    op.output_bytes = op.activation_bytes;
    op.parameter_bytes = take_field(line, fields, "parameter_size");
    if (!numbers_.emplace(op.name, graph_.size()).second) {
      text_.fail(line, "a second operator " + io::shown(op.name), "each once");
    }
    graph_.add(std::move(op));
  }

  /// `KEY=VALUE`, where the value is a number or `[number; number]`, which is summed up.
  double take_field(std::size_t line, std::string_view& fields, const std::string& key) const {
    const auto end = std::min(fields.find(','), fields.size());
    const std::string_view field = io::trimmed(fields.substr(0, end));
    fields.remove_prefix(std::min(end + 1, fields.size()));
    if (!field.starts_with(key + "=")) text_.fail(line, io::shown(field), key + "=NUMBER");
    std::string_view value = field.substr(key.size() + 1);
    if (!value.starts_with('[')) return read_amount(text_, line, value, key.c_str());
    if (!value.ends_with(']')) text_.fail(line, io::shown(value), "[NUMBER; NUMBER]");
    value = value.substr(1, value.size() - 2);
    double sum = 0;
    while (true) {
      const auto cut = value.find(';');
      sum += read_amount(text_, line, value.substr(0, cut), key.c_str());
      if (cut == std::string_view::npos) return sum;
      value.remove_prefix(cut + 1);
    }
  }

  std::size_t number_of(std::size_t line, std::string_view name) const {
    const auto found = numbers_.find(std::string(name));
    if (found == numbers_.end()) {
      text_.fail(line, "an edge at operator " + io::shown(name), "one that the file describes");
    }
    return found->second;
  }

  const Text& text_;
  OperatorGraph graph_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<EdgeRow> edges_;
};

std::vector<std::string_view> columns_of(std::string_view row) {
  std::vector<std::string_view> columns;
  for (auto token = io::take_token(row); !token.empty(); token = io::take_token(row)) {
    columns.push_back(token);
  }
  return columns;
}

/// Adds an operator behind the last one.
void append(OperatorGraph& graph, Operator op) {
  const std::size_t number = graph.add(std::move(op));
  if (number > 0) graph.connect(number - 1, number);
}

OperatorGraph read_layers(const Text& text) {
  constexpr std::array names = {"forward time", "backward time", "activation bytes",
                                "parameter bytes", "output bytes"};
  OperatorGraph graph;
  for (std::size_t line = 0; line < text.lines.size(); ++line) {
    const std::string_view row = io::trimmed(text.lines[line]);
    if (row.empty() || row.starts_with('#')) continue;
    const auto columns = columns_of(row);
    if (columns.size() < 2 || columns.size() > 6) {
      text.fail(line, io::shown(row),
                "NAME FORWARD_MS [BACKWARD_MS ACTIVATION_BYTES PARAMETER_BYTES OUTPUT_BYTES]");
    }
    std::array<double, 5> amounts{};
    for (std::size_t c = 1; c < columns.size(); ++c) {
      amounts[c - 1] = read_amount(text, line, columns[c], names[c - 1], c < 3 ? millisecond : 1);
    }
    Operator op;
    op.name = std::string(columns[0]);
    op.forward_seconds = amounts[0];
    op.backward_seconds = amounts[1];
    op.activation_bytes = amounts[2];
    op.parameter_bytes = amounts[3];
    op.output_bytes = columns.size() == 6 ? amounts[4] : amounts[2];
    append(graph, std::move(op));
  }
  return graph;
}

/// Bytes that a pipeline stage sends to the next, as the header says: `pp_comm 50331648`.
double read_simai_header(const Text& text) {
  const auto words = columns_of(text.lines.front());
  for (std::size_t w = 0; w + 1 < words.size(); ++w) {
    if (words[w] == "pp_comm" || words[w] == "pp_comm:") {
      return read_amount(text, 0, words[w + 1], "pp_comm");
    }
  }
  return 0;
}

OperatorGraph read_simai(const Text& text) {
  const double output_bytes = read_simai_header(text);
  if (text.lines.size() < 2) text.fail(1, "the end of the file", "the number of operators");
  const auto num_rows = io::parse_integer(io::trimmed(text.lines[1]));
  if (!num_rows || *num_rows < 0) {
    text.fail(1, io::shown(text.lines[1]), "the number of operators");
  }
  OperatorGraph graph;
  for (std::size_t line = 2; line < text.lines.size(); ++line) {
    const auto columns = columns_of(text.lines[line]);
    if (columns.empty()) continue;
    if (columns.size() != 12) {
      text.fail(line, std::to_string(columns.size()) + " columns",
                "12: name, -1, and time, collective, bytes of three passes, and a delay");
    }
    Operator op;
    op.name = std::string(columns[0]) + "#" + std::to_string(graph.size());
    op.forward_seconds = read_amount(text, line, columns[2], "forward time", nanosecond);
    op.backward_seconds = read_amount(text, line, columns[5], "input-gradient time", nanosecond) +
                          read_amount(text, line, columns[8], "weight-gradient time", nanosecond);
    for (const std::size_t c : {3, 6, 9}) {
      read_amount(text, line, columns[c + 1], "bytes");
      if (columns[c] != "NONE") op.kind += (op.kind.empty() ? "" : " ") + std::string(columns[c]);
    }
    op.output_bytes = output_bytes;
    append(graph, std::move(op));
  }
  if (graph.size() != static_cast<std::size_t>(*num_rows)) {
    text.fail(1, std::to_string(*num_rows) + " as the number of operators",
              "as many rows; there are " + std::to_string(graph.size()));
  }
  return graph;
}

GraphFormat find_format(const Text& text) {
  for (const std::string& line : text.lines) {
    const std::string_view row = io::trimmed(line);
    if (row.empty()) continue;
    if (row.starts_with('{')) return GraphFormat::piper;
    if (row.find("model_parallel_NPU_group") != std::string_view::npos) return GraphFormat::simai;
    if (row.find(dash) != std::string_view::npos) return GraphFormat::pipedream;
    break;
  }
  return GraphFormat::layers;
}

OperatorGraph read_text(const Text& text, const GraphFileOptions& options) {
  if (text.lines.empty()) text.fail(0, "an empty file", "operators");
  const GraphFormat format =
      options.format == GraphFormat::automatic ? find_format(text) : options.format;
  switch (format) {
    case GraphFormat::pipedream: return PipeDreamFile(text).read();
    case GraphFormat::piper: return read_piper(text, options.piper);
    case GraphFormat::simai: return read_simai(text);
    case GraphFormat::layers: return read_layers(text);
    case GraphFormat::automatic: break;
  }
  throw Error(ErrorCode::internal, "a graph format without a reader");
}

OperatorGraph read_any(const io::Input& input, const GraphFileOptions& options) {
  if (options.format == GraphFormat::automatic && is_onnx(input.bytes())) {
    return read_onnx(input.name(), input.bytes());
  }
  return read_text(read_lines(input), options);
}

OperatorGraph read_input(const io::Input& input, const GraphFileOptions& options) {
  OperatorGraph graph = read_any(input, options);
  WEIR_EXPECT(!graph.is_empty(), input,
              input.name() + ":1: found no operator; expected at least one");
  try {
    graph.topological_order();
  } catch (const Error& error) {
    throw Error(error.code(), input.name() + ": " + std::string(error.text()));
  }
  return graph;
}

}  // namespace

std::string name_of(GraphFormat format) {
  switch (format) {
    case GraphFormat::automatic: return "automatic";
    case GraphFormat::pipedream: return "pipedream";
    case GraphFormat::piper: return "piper";
    case GraphFormat::simai: return "simai";
    case GraphFormat::layers: return "layers";
  }
  return "unknown";
}

OperatorGraph read_operator_graph(const std::string& path, const GraphFileOptions& options) {
  return read_input(io::Input::open(path, 0, {}), options);
}

OperatorGraph parse_operator_graph(const std::string& name, std::string_view text,
                                   const GraphFileOptions& options) {
  return read_input(io::Input::from_memory(name, text), options);
}

}  // namespace weir::training
