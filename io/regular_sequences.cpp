// SPDX-License-Identifier: Apache-2.0
#include <weir/io/edge_sequence.hpp>
#include <weir/io/format_reader.hpp>
#include <weir/io/indexed_random.hpp>

#include <algorithm>
#include <random>

namespace weir::io {
namespace {

constexpr std::uint64_t most_vertices = std::uint64_t{1} << 48;
constexpr std::uint64_t most_weight = std::uint64_t{1} << 32;

/// Takes a count given under its key or without one: `path:10`, `path:vertices=10`.
std::uint64_t take_vertices(GeneratorSpec& spec) {
  return spec.take_count(spec.has("") ? "" : "vertices", 1, most_vertices);
}

/// Vertices in rows; each has an edge to the right, then one down. Weights are drawn in this order
/// from the Mersenne twister, as benchmark suites do, so a part skips the draws before its own.
class GridSequence : public EdgeSequence {
 public:
  GridSequence(GeneratorSpec& spec, Part part) {
    take_shape(spec);
    max_weight_ = spec.take_count("weights", 1, UINT32_MAX, 0);
    const auto seed = spec.take_count("seed", 0, UINT32_MAX, 1);
    is_directed = false;
    has_weights = max_weight_ > 0;
    num_vertices = rows_ * columns_;
    num_edges = edges_before(num_vertices);
    cell_ = part.begin_of(num_vertices);
    end_ = part.end_of(num_vertices);
    random_.seed(static_cast<std::uint32_t>(seed));
    if (has_weights) random_.discard(edges_before(cell_));
  }

  bool next(std::vector<Edge<double>>& batch) override {
    batch.clear();
    for (; cell_ < end_ && batch.size() + 2 <= batch_records; ++cell_) {
      if ((cell_ + 1) % columns_ != 0) batch.push_back(edge_to(cell_ + 1));
      if (cell_ + columns_ < num_vertices) batch.push_back(edge_to(cell_ + columns_));
    }
    return !batch.empty();
  }

 private:
  void take_shape(GeneratorSpec& spec) {
    if (spec.has("")) {
      const std::string shape = spec.take_text("");
      const std::size_t x = shape.find('x');
      if (x == std::string::npos) spec.fail("", '"' + shape + '"', "ROWSxCOLUMNS");
      GeneratorSpec sizes("grid:rows=" + shape.substr(0, x) + ",columns=" + shape.substr(x + 1));
      take_sides(sizes);
    } else {
      take_sides(spec);
    }
  }

  void take_sides(GeneratorSpec& spec) {
    rows_ = spec.take_count("rows", 1, most_vertices);
    columns_ = spec.take_count("columns", 1, most_vertices / rows_);
  }

  std::uint64_t edges_before(std::uint64_t cell) const {
    const std::uint64_t row = cell / columns_;
    const std::uint64_t column = cell % columns_;
    const std::uint64_t right = row * (columns_ - 1) + column;
    return right + std::min(cell, num_vertices - columns_);
  }

  Edge<double> edge_to(std::uint64_t target) {
    const double value = has_weights ? static_cast<double>(random_() % max_weight_ + 1) : 1.0;
    return {static_cast<VertexId>(cell_), static_cast<VertexId>(target), value};
  }

  std::uint64_t rows_ = 1, columns_ = 1;
  std::uint64_t max_weight_ = 0;
  std::uint64_t cell_ = 0, end_ = 0;
  std::mt19937 random_;
};

/// Trees in which vertex i > 0 hangs on one vertex before it; edge i - 1 is that one.
class ParentSequence : public EdgeSequence {
 public:
  enum class Kind { path, star, tree };

  ParentSequence(GeneratorSpec& spec, Part part, Kind kind) : kind_(kind) {
    is_directed = false;
    num_vertices = take_vertices(spec);
    num_edges = num_vertices - 1;
    max_weight_ = spec.take_count("weights", 1, most_weight, 0);
    has_weights = max_weight_ > 0;
    random_ = IndexedRandom(spec.take_count("seed", 0, UINT64_MAX, 1));
    index_ = part.begin_of(*num_edges);
    end_ = part.end_of(*num_edges);
  }

  bool next(std::vector<Edge<double>>& batch) override {
    batch.clear();
    for (; index_ < end_ && batch.size() < batch_records; ++index_) {
      const double value =
          has_weights
              ? static_cast<double>(1 + IndexedRandom::below(max_weight_, random_.word(index_)))
              : 1.0;
      batch.push_back(
          {static_cast<VertexId>(parent(index_ + 1)), static_cast<VertexId>(index_ + 1), value});
    }
    return !batch.empty();
  }

 private:
  std::uint64_t parent(std::uint64_t vertex) const {
    switch (kind_) {
      case Kind::path: return vertex - 1;
      case Kind::star: return 0;
      case Kind::tree: break;
    }
    return (vertex - 1) / 2;
  }

  Kind kind_;
  std::uint64_t max_weight_ = 0;
  IndexedRandom random_{0};
  std::uint64_t index_ = 0, end_ = 0;
};

}  // namespace

std::unique_ptr<EdgeSequence> regular_sequence(GeneratorSpec& spec, Part part) {
  using Kind = ParentSequence::Kind;
  if (spec.kind() == "grid") return std::make_unique<GridSequence>(spec, part);
  const Kind kind = spec.kind() == "path"   ? Kind::path
                    : spec.kind() == "star" ? Kind::star
                                            : Kind::tree;
  return std::make_unique<ParentSequence>(spec, part, kind);
}

}  // namespace weir::io
