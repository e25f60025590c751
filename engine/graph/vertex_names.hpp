// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weir/engine/model/check.hpp>
#include <weir/engine/model/ids.hpp>

namespace weir {

/// String names of the vertices one rank owns. Ids number the names of the whole graph from 0 in
/// bytewise order, so a rank's names are a run.
class VertexNames {
 public:
  VertexNames(VertexId first_id, std::vector<std::string> names)
      : first_id_(first_id), names_(std::move(names)) {}

  /// Name of an own vertex.
  std::string_view name_of(VertexId id) const {
    WEIR_EXPECT(id >= first_id_ && id - first_id_ < static_cast<VertexId>(names_.size()), usage,
                "vertex " + std::to_string(id) + " has no name on this rank");
    return names_[static_cast<std::size_t>(id - first_id_)];
  }

  /// Id of a name, when this rank owns it.
  std::optional<VertexId> find(std::string_view name) const {
    const auto at = std::lower_bound(names_.begin(), names_.end(), name);
    if (at == names_.end() || *at != name) return std::nullopt;
    return first_id_ + static_cast<VertexId>(at - names_.begin());
  }

 private:
  VertexId first_id_;
  std::vector<std::string> names_;
};

}  // namespace weir
