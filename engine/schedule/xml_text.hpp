// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pugixml.hpp>
#include <weir/engine/schedule/topology_text.hpp>

namespace weir::schedule {

constexpr int deepest_element = 100;

/// The element NAME at the root of a file. Throws Error{input} for what is no XML, has another
/// root, or nests its elements deeper than a machine does.
pugi::xml_node load_xml(pugi::xml_document& document, const TopologyText& text, const char* name);

std::size_t line_of(const TopologyText& text, const pugi::xml_node& node);

}  // namespace weir::schedule
