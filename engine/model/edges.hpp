// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weir {

/// Along which edges a program's messages travel.
enum class Edges {
  out,   ///< From a vertex to the targets of its out-edges; the default.
  in,    ///< From a vertex to the sources of its in-edges.
  both,  ///< To the neighbours on either side; an undirected graph has one side only.
};

}  // namespace weir
