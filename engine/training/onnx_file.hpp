// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <weir/engine/training/operator_graph.hpp>

namespace weir::training {

/// True for the bytes of an ONNX model, which begin with the number of its format's version as no
/// text does.
bool is_onnx(std::string_view bytes);

/// Reads the operators of an ONNX model; weights may be missing, shapes may not. Times are those of
/// a device that does 1e12 operations a second, backward twice forward: 2 K per element of the
/// output of products and convolutions, where K elements of the weights go into it, 1 of others.
/// Weights that several operators share belong to the first.
///
/// Throws Error{input} where the bytes are cut off or no ONNX, or a shape or a producer is missing.
OperatorGraph read_onnx(const std::string& name, std::string_view bytes);

}  // namespace weir::training
