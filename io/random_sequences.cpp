// SPDX-License-Identifier: Apache-2.0
#include <weir/io/edge_sequence.hpp>
#include <weir/io/format_reader.hpp>
#include <weir/io/indexed_random.hpp>
#include <weir/io/portable_math.hpp>

#include <algorithm>
#include <cmath>

namespace weir::io {
namespace {

constexpr std::uint64_t most_vertices = std::uint64_t{1} << 48;
constexpr std::uint64_t most_edges = std::uint64_t{1} << 56;
constexpr std::uint64_t most_weight = std::uint64_t{1} << 32;

/// Edges numbered 0 to m - 1, of which a part makes a range.
class IndexedSequence : public EdgeSequence {
 public:
  bool next(std::vector<Edge<double>>& batch) override {
    const std::uint64_t count = std::min<std::uint64_t>(end_ - index_, batch_records);
    batch.resize(count);
    if (count > 0) make(index_, batch);
    index_ += count;
    return count > 0;
  }

 protected:
  void set_num_edges(std::uint64_t count, Part part) {
    num_edges = count;
    index_ = part.begin_of(count);
    end_ = part.end_of(count);
  }

  void take_weights(GeneratorSpec& spec) {
    max_weight_ = spec.take_count("weights", 1, most_weight, 0);
    has_weights = max_weight_ > 0;
  }

  double weight(std::uint64_t word) const {
    return has_weights ? static_cast<double>(1 + IndexedRandom::below(max_weight_, word)) : 1.0;
  }

  /// Fills the batch with the edges from `first` on.
  virtual void make(std::uint64_t first, std::vector<Edge<double>>& batch) const = 0;

 private:
  std::uint64_t index_ = 0, end_ = 0;
  std::uint64_t max_weight_ = 0;
};

/// A bijection of the numbers of `bits` bits, chosen by a seed.
class Scramble {
 public:
  Scramble(std::uint64_t bits, const IndexedRandom& random)
      : mask_((std::uint64_t{1} << bits) - 1), shift_((bits + 1) / 2) {
    for (std::uint64_t i = 0; i < num_rounds; ++i) {
      factor_[i] = random.word(~(2 * i)) | 1;
      offset_[i] = random.word(~(2 * i + 1));
    }
  }

  std::uint64_t operator()(std::uint64_t x) const {
    for (std::size_t i = 0; i < num_rounds; ++i) {
      x = (x * factor_[i] + offset_[i]) & mask_;
      x ^= x >> shift_;
    }
    return x;
  }

 private:
  static constexpr std::size_t num_rounds = 3;
  std::uint64_t mask_, shift_;
  std::uint64_t factor_[num_rounds]{}, offset_[num_rounds]{};
};

/// [Chakrabarti04]: each of `scale` levels picks a quadrant of the adjacency matrix.
class RmatSequence : public IndexedSequence {
 public:
  RmatSequence(GeneratorSpec& spec, Part part)
      : scale_(spec.take_count("scale", 1, 48)),
        random_(spec.take_count("seed", 0, UINT64_MAX, 1)),
        scramble_(scale_, random_) {
    const std::uint64_t factor = spec.take_count("edge_factor", 1, most_edges >> scale_, 16);
    const double a = spec.take_real("a", 0, 1, 0.57);
    const double b = spec.take_real("b", 0, 1, 0.19);
    const double c = spec.take_real("c", 0, 1, 0.19);
    if (a + b + c > 1) spec.fail("a,b,c", "a sum above 1", "a sum of at most 1");
    a_ = threshold(a);
    ab_ = threshold(a + b);
    abc_ = threshold(a + b + c);
    num_vertices = std::uint64_t{1} << scale_;
    take_weights(spec);
    set_num_edges(factor << scale_, part);
  }

 private:
  // A random word holds three lanes of 20 bits, each with a guard bit above it, so that one
  // subtraction compares three levels with a threshold.
  static constexpr std::uint64_t levels_per_word = 3;
  static constexpr std::uint64_t words_per_edge = 32;  ///< 16 for the levels, one for the weight.
  static constexpr std::uint64_t ones = 1 | (std::uint64_t{1} << 21) | (std::uint64_t{1} << 42);
  static constexpr std::uint64_t guards = ones << 20;

  /// A probability in each lane.
  static std::uint64_t threshold(double p) {
    return static_cast<std::uint64_t>(p * (1 << 20) + 0.5) * ones;
  }

  /// The guard bits as a number of three bits.
  static std::uint64_t gather(std::uint64_t bits) {
    constexpr std::uint64_t to_the_top =
        (std::uint64_t{1} << 41) | (std::uint64_t{1} << 21) | (std::uint64_t{1} << 1);
    return ((bits & guards) * to_the_top) >> 61;
  }

  void make(std::uint64_t first, std::vector<Edge<double>>& batch) const override {
    const std::uint64_t num_words = (scale_ + levels_per_word - 1) / levels_per_word;
    const std::uint64_t surplus = num_words * levels_per_word - scale_;  // levels to be dropped
    for (Edge<double>& edge : batch) {
      const std::uint64_t counter = first++ * words_per_edge;
      std::uint64_t source = 0, target = 0;
      for (std::uint64_t i = 0; i < num_words; ++i) {
        const std::uint64_t lanes = random_.word(counter + i) | guards;
        const std::uint64_t is_lower = lanes - ab_;
        const std::uint64_t is_right = (lanes - a_) ^ is_lower ^ (lanes - abc_);
        source = source << levels_per_word | gather(is_lower);
        target = target << levels_per_word | gather(is_right);
      }
      edge.source = static_cast<VertexId>(scramble_(source >> surplus));
      edge.target = static_cast<VertexId>(scramble_(target >> surplus));
      edge.value = has_weights ? weight(random_.word(counter + words_per_edge - 1)) : 1.0;
    }
  }

  std::uint64_t scale_;
  IndexedRandom random_;
  Scramble scramble_;
  std::uint64_t a_ = 0, ab_ = 0, abc_ = 0;
};

class UniformSequence : public IndexedSequence {
 public:
  UniformSequence(GeneratorSpec& spec, Part part)
      : random_(spec.take_count("seed", 0, UINT64_MAX, 1)) {
    num_vertices = spec.take_count("vertices", 1, most_vertices);
    const std::uint64_t count = spec.take_count("edges", 0, most_edges);
    take_weights(spec);
    set_num_edges(count, part);
  }

 private:
  void make(std::uint64_t first, std::vector<Edge<double>>& batch) const override {
    for (Edge<double>& edge : batch) {
      const std::uint64_t counter = 4 * first++;
      edge.source = vertex(counter);
      edge.target = vertex(counter + 1);
      edge.value = weight(random_.word(counter + 2));
    }
  }

  VertexId vertex(std::uint64_t counter) const {
    return static_cast<VertexId>(IndexedRandom::below(num_vertices, random_.word(counter)));
  }

  IndexedRandom random_;
};

/// The graphs of [Malewicz10]: out-degrees are log-normal, targets uniform.
class LognormalSequence : public EdgeSequence {
 public:
  LognormalSequence(GeneratorSpec& spec, Part part)
      : seed_(spec.take_count("seed", 0, UINT64_MAX, 1)), degrees_(seed_) {
    num_vertices = spec.take_count("vertices", 1, most_vertices);
    mu_ = spec.take_real("mu", -100, 100, 4);
    sigma_ = spec.take_real("sigma", 0, 100, 1.3);
    max_weight_ = spec.take_count("weights", 1, most_weight, 0);
    has_weights = max_weight_ > 0;
    vertex_ = part.begin_of(num_vertices);
    end_ = part.end_of(num_vertices);
  }

  bool next(std::vector<Edge<double>>& batch) override {
    batch.clear();
    while (batch.size() < batch_records) {
      if (edge_ == degree_) {
        if (vertex_ == end_) break;
        open_vertex(vertex_++);
        continue;
      }
      const std::uint64_t counter = 2 * edge_++;
      const auto target = IndexedRandom::below(num_vertices, targets_.word(counter));
      const double value =
          has_weights ? static_cast<double>(
                            1 + IndexedRandom::below(max_weight_, targets_.word(counter + 1)))
                      : 1.0;
      batch.push_back({static_cast<VertexId>(vertex_ - 1), static_cast<VertexId>(target), value});
    }
    return !batch.empty();
  }

 private:
  void open_vertex(std::uint64_t vertex) {
    const double p = (static_cast<double>(degrees_.word(vertex) >> 11) + 0.5) * 0x1p-53;
    const double degree = std::floor(portable_exp(mu_ + sigma_ * normal_quantile(p)) + 0.5);
    const auto most = static_cast<double>(num_vertices);
    degree_ = degree < most ? static_cast<std::uint64_t>(degree) : num_vertices;
    edge_ = 0;
    targets_ = IndexedRandom(seed_ ^ mix_bits(vertex));
  }

  std::uint64_t seed_;
  IndexedRandom degrees_;
  IndexedRandom targets_{0};
  double mu_ = 0, sigma_ = 0;
  std::uint64_t max_weight_ = 0;
  std::uint64_t vertex_ = 0, end_ = 0;   ///< Vertices still to be opened.
  std::uint64_t edge_ = 0, degree_ = 0;  ///< Edges of the open vertex.
};

}  // namespace

std::unique_ptr<EdgeSequence> random_sequence(GeneratorSpec& spec, Part part) {
  if (spec.kind() == "rmat") return std::make_unique<RmatSequence>(spec, part);
  if (spec.kind() == "uniform") return std::make_unique<UniformSequence>(spec, part);
  return std::make_unique<LognormalSequence>(spec, part);
}

}  // namespace weir::io
