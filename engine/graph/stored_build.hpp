// SPDX-License-Identifier: Apache-2.0
// From a .weir file to a graph without sorting: the file holds the lists as a graph has them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <weir/engine/graph/build.hpp>
#include <weir/engine/graph/graph.hpp>
#include <weir/engine/runtime/collectives.hpp>
#include <weir/io/weir_layout.hpp>

namespace weir {

/// The graph that GraphBuilder would make of the edges in the file, to the bit; empty where that
/// takes more than copying lists: with names, with the other direction, or where repeats or loops
/// are to go. Every rank has the whole file at hand and copies the lists of its vertices. Every
/// checksum is checked, and every number against the others. Cost: one copy of the lists, on
/// several ranks a look through them before; the pages of the file are given back on the way.
/// Collective. Throws Error{input}.
template <class E>
std::optional<Graph<E>> build_stored(Context& context, io::WeirFile& file,
                                     const BuildOptions& options);

/// The same for what a reading has opened, if that is such a file.
template <class E, class Reading>
std::optional<Graph<E>> build_stored(Context& context, Reading& reading,
                                     const BuildOptions& options) {
  if constexpr (requires { reading.first().sorted_lists(); }) {
    io::WeirFile* const file = reading.first().sorted_lists();
    // A pipe is read by one rank alone.
    const auto has_file = all_gather(context, std::uint8_t{file != nullptr});
    if (std::find(has_file.begin(), has_file.end(), 0) == has_file.end())
      return build_stored<E>(context, *file, options);
  }
  return std::nullopt;
}

extern template std::optional<Graph<NoValue>> build_stored(Context&, io::WeirFile&,
                                                           const BuildOptions&);
extern template std::optional<Graph<double>> build_stored(Context&, io::WeirFile&,
                                                          const BuildOptions&);

}  // namespace weir
