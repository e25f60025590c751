// SPDX-License-Identifier: Apache-2.0
// Decorators of ports that know of processes besides ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <weir/engine/runtime/port.hpp>

namespace weir {

/// Gives the processes of a job other ranks: rank r becomes the process that `inner` calls
/// `process_of_rank[r]`. What is computed depends on ranks alone, so no bit of a result changes.
/// Throws Error{usage} unless every process is named once.
std::unique_ptr<Port> make_renumbered_port(std::unique_ptr<Port> inner,
                                           std::vector<Rank> process_of_rank);

/// Adds the bytes of every frame, header included, to `sent[to]` as it is handed over. `sent` has
/// an element for each rank of `inner` and must outlive the port.
std::unique_ptr<Port> make_counting_port(std::unique_ptr<Port> inner,
                                         std::vector<std::uint64_t>& sent);

}  // namespace weir
