// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace weir::cli {

/// Writes to stdout, which carries results only. Throws Error{output} when not all was written.
void print(std::string_view text);

}  // namespace weir::cli
