// SPDX-License-Identifier: Apache-2.0
#pragma once
namespace weir {
// written by the runtime helper
}
