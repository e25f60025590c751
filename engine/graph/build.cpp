// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/graph/build.hpp>

#include <weir/engine/graph/build_inline.hpp>

namespace weir {

template class GraphBuilder<NoValue>;
template class GraphBuilder<float>;
template class GraphBuilder<double>;

}  // namespace weir
