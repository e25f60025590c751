// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/graph/stored_build.hpp>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include <weir/engine/graph/load.hpp>
#include <weir/engine/model/error.hpp>
#include <weir/io/graph_writer.hpp>
#include <weir/tests/engine/graph/graph_cases.hpp>
#include <weir/tests/reference/random_graph.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weir {
namespace {

using io::WeirHeader;

class StoredBuild : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "weir-stored-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return (folder_ / "g.weir").string(); }

  void write(const std::vector<Edge<double>>& edges, const std::vector<VertexId>& vertices,
             bool is_directed) const {
    io::GraphHeader header;
    header.directed = is_directed;
    header.has_weights = true;
    io::GraphWriter writer(path(), io::Format::weir, header);
    writer.write(edges);
    writer.write_vertices(vertices);
    writer.commit();
  }

  std::string bytes() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// Writes a small file with right checksums.
  void write_repaired(std::string bytes) const {
    WeirHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    ASSERT_EQ(header.hashes.num_bytes, 8U);
    const std::uint64_t hash =
        XXH3_64bits(bytes.data() + sizeof header, header.hashes.offset - sizeof header);
    std::memcpy(bytes.data() + header.hashes.offset, &hash, sizeof hash);
    header.hash_of_hashes = XXH3_64bits(&hash, sizeof hash);
    header.hash_of_header = XXH3_64bits(&header, sizeof header - sizeof header.hash_of_header);
    std::memcpy(bytes.data(), &header, sizeof header);
    std::ofstream(path(), std::ios::binary) << bytes;
  }

  /// What loading on so many ranks throws; empty if nothing.
  template <class E>
  std::string error(Rank ranks) const {
    try {
      run_in_process(ranks, {.threads = 2},
                     [&](Context& context) { load_graph<E>(context, {path()}); });
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
      return error.what();
    }
    return {};
  }

 private:
  std::filesystem::path folder_;
};

template <class E>
std::string describe_loaded(const std::string& path, Rank ranks, int threads,
                            std::optional<std::uint32_t> num_shards = {}) {
  return cases::on_ranks(ranks, threads,
                         [&](Context& context) {
                           LoadOptions options;
                           options.build.num_shards = num_shards;
                           return cases::describe(load_graph<E>(context, {path}, options));
                         })
      .front();
}

/// Which values a rank holds and sends, in order.
template <class E>
std::string describe_slots(const Graph<E>& graph) {
  const Slots& slots = graph.side_for(Edges::out).slots;
  std::ostringstream out;
  for (std::size_t slot = 0; slot < slots.size(); ++slot)
    out << slots.ids[slot] << ':' << slots.rows[slot] << ' ';
  for (const Slot slot : slots.of_rows) out << slot << ' ';
  for (const GhostLink& link : slots.links) {
    out << "\nrank " << link.peer << " sent";
    for (const Slot slot : link.sent) out << ' ' << slot;
    out << " received";
    for (const Slot slot : link.received) out << ' ' << slot;
  }
  return out.str();
}

TEST_F(StoredBuild, gives_each_rank_the_slots_that_its_edges_give) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const reference::RandomGraph random = reference::random_graph(seed);
    write(random.edges, random.vertices, random.directed);
    for (const Rank ranks : {1, 3}) {
      const auto expected = cases::on_ranks(ranks, [&](Context& context) {
        return describe_slots(cases::build(context, cases::input_of(random)));
      });
      EXPECT_EQ(cases::on_ranks(ranks,
                                [&](Context& context) {
                                  return describe_slots(load_graph<double>(context, {path()}));
                                }),
                expected)
          << seed;
    }
  }
}

TEST_F(StoredBuild, makes_the_graph_that_its_edges_make) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const reference::RandomGraph random = reference::random_graph(seed);
    write(random.edges, random.vertices, random.directed);
    const std::string expected =
        cases::on_ranks(1, [&](Context& context) {
          return cases::describe(cases::build(context, cases::input_of(random)));
        }).front();
    for (const int threads : {1, 3}) {
      EXPECT_EQ(describe_loaded<double>(path(), 1, threads), expected) << seed;
    }
    for (const Rank ranks : {2, 5})
      EXPECT_EQ(describe_loaded<double>(path(), ranks, 2), expected) << seed;
    EXPECT_EQ(describe_loaded<NoValue>(path(), 1, 2), describe_loaded<NoValue>(path(), 3, 2));
    EXPECT_EQ(describe_loaded<NoValue>(path(), 1, 2, 5), describe_loaded<NoValue>(path(), 2, 1, 5));
  }
}

TEST_F(StoredBuild, copies_only_what_is_asked_for_as_it_is_stored) {
  write({{1, 2, 1}, {2, 2, 1}}, {9}, false);
  Context context({.threads = 2});
  io::GraphReader reader({path()});
  io::WeirFile* const file = reader.sorted_lists();
  ASSERT_NE(file, nullptr);
  const BuildOptions as_stored{.is_directed = false};
  EXPECT_EQ(build_stored<NoValue>(context, *file, as_stored)->num_edges(), 2U);
  EXPECT_EQ(build_stored<NoValue>(context, *file, as_stored)->num_vertices(), 3U);
  EXPECT_FALSE(build_stored<NoValue>(context, *file, {.is_directed = true}));
  EXPECT_FALSE(build_stored<NoValue>(context, *file, {.is_directed = false, .loops = Loops::drop}));
  EXPECT_FALSE(
      build_stored<NoValue>(context, *file, {.is_directed = false, .repeats = Repeats::merge}));
  io::GraphReader declared({path()}, {.num_vertices = 10});
  EXPECT_EQ(declared.sorted_lists(), nullptr);
}

TEST_F(StoredBuild, notices_every_flipped_bit_and_truncation) {
  write({{1, 2, 0.5}, {2, 9, 0.25}, {9, 9, 3}}, {}, false);
  const std::string right = bytes();
  for (std::size_t i = 0; i < right.size(); ++i) {
    std::string damaged = right;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    std::ofstream(path(), std::ios::binary) << damaged;
    EXPECT_NE(error<double>(1), "") << i;
    std::ofstream(path(), std::ios::binary) << right.substr(0, i);
    EXPECT_NE(error<double>(1), "") << i;
  }
}

TEST_F(StoredBuild, refuses_lists_that_do_not_fit_together) {
  for (const bool is_directed : {false, true}) {
    write({{1, 2, 0.5}, {1, 2, 0.25}, {2, 9, 0.25}, {9, 9, 3}, {1, 1, 1}}, {4}, is_directed);
    const std::string right = bytes();
    WeirHeader header;
    std::memcpy(&header, right.data(), sizeof header);
    // Every entry of every list and of the order, and every offset, set to every value near by.
    const auto try_all = [&](const io::WeirSection& section, auto element) {
      for (std::uint64_t at = 0; at < section.num_bytes; at += sizeof element) {
        std::memcpy(&element, right.data() + section.offset + at, sizeof element);
        const auto was = element;
        for (element = 0; element < 12; ++element) {
          std::string changed = right;
          std::memcpy(changed.data() + section.offset + at, &element, sizeof element);
          write_repaired(changed);
          const std::string one = error<double>(1);
          const std::string two = error<double>(2);
          if (element == was) {
            EXPECT_EQ(one + two, "");
          } else if (!is_directed) {  // directed, it may be a graph still, never a crash
            EXPECT_NE(one, "") << section.offset << ' ' << at << ' ' << +element;
            EXPECT_NE(two, "") << section.offset << ' ' << at << ' ' << +element;
          }
        }
      }
    };
    try_all(header.neighbours, std::uint32_t{});
    try_all(header.order, std::uint32_t{});
    try_all(header.offsets, std::uint64_t{});
  }
}

}  // namespace
}  // namespace weir
