// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/graph/graph.hpp>

#include <weir/engine/graph/graph_inline.hpp>

namespace weir {

template class Graph<NoValue>;
template class Graph<float>;
template class Graph<double>;

}  // namespace weir
