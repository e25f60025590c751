// SPDX-License-Identifier: Apache-2.0
#include <weir/io/generator.hpp>

#include <weir/engine/model/check.hpp>
#include <weir/io/edge_sequence.hpp>
#include <weir/io/format_reader.hpp>
#include <weir/io/number_text.hpp>

#include <algorithm>

namespace weir::io {
namespace {

constexpr std::string_view random_kinds[] = {"rmat", "uniform", "lognormal"};
constexpr std::string_view regular_kinds[] = {"grid", "path", "star", "tree"};

template <class Kinds>
bool contains(const Kinds& kinds, std::string_view kind) {
  return std::find(std::begin(kinds), std::end(kinds), kind) != std::end(kinds);
}

std::unique_ptr<EdgeSequence> open(std::string_view text, Part part) {
  WEIR_EXPECT(part.count > 0 && part.index >= 0 && part.index < part.count, usage,
              "part: the index must be below the count");
  GeneratorSpec spec(text);
  std::unique_ptr<EdgeSequence> sequence;
  if (contains(random_kinds, spec.kind())) {
    sequence = random_sequence(spec, part);
  } else if (contains(regular_kinds, spec.kind())) {
    sequence = regular_sequence(spec, part);
  } else {
    throw Error(ErrorCode::usage, "generator: found " + shown(spec.kind()) +
                                      "; expected rmat, uniform, lognormal, grid, path, star or "
                                      "tree");
  }
  spec.expect_all_taken();
  return sequence;
}

}  // namespace

bool is_generator_spec(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  return colon != std::string_view::npos &&
         (contains(random_kinds, kind) || contains(regular_kinds, kind));
}

Generator::Generator(std::string_view spec, Part part)
    : sequence_(open(spec, part)),
      vertex_(part.begin_of(sequence_->num_vertices)),
      end_vertex_(part.end_of(sequence_->num_vertices)) {}

Generator::Generator(Generator&&) noexcept = default;
Generator& Generator::operator=(Generator&&) noexcept = default;
Generator::~Generator() = default;

GraphHeader Generator::header() const {
  GraphHeader header;
  header.directed = sequence_->is_directed;
  header.has_weights = sequence_->has_weights;
  header.has_vertices = true;
  header.num_vertices = sequence_->num_vertices;
  header.num_edges = sequence_->num_edges;
  return header;
}

bool Generator::next(std::vector<Edge<double>>& batch) { return sequence_->next(batch); }

bool Generator::next(std::vector<Edge<NoValue>>& batch) {
  batch.clear();
  sequence_->next(edges_);
  batch.resize(edges_.size());
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    batch[i].source = edges_[i].source;
    batch[i].target = edges_[i].target;
  }
  return !batch.empty();
}

bool Generator::next(std::vector<VertexId>& batch) {
  batch.clear();
  while (vertex_ < end_vertex_ && batch.size() < batch_records) {
    batch.push_back(static_cast<VertexId>(vertex_++));
  }
  return !batch.empty();
}

}  // namespace weir::io
