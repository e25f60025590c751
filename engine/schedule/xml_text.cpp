// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/schedule/xml_text.hpp>

#include <algorithm>
#include <string>

namespace weir::schedule {

namespace {

struct DepthCheck : pugi::xml_tree_walker {
  explicit DepthCheck(const TopologyText& file) : text(file) {}
  bool for_each(pugi::xml_node& node) override {
    if (depth() > deepest_element) {
      text.fail(line_of(text, node), "elements nested over 100 deep", "the tree of a machine");
    }
    return true;
  }
  const TopologyText& text;
};

}  // namespace

pugi::xml_node load_xml(pugi::xml_document& document, const TopologyText& text, const char* name) {
  const auto result = document.load_buffer(text.text.data(), text.text.size());
  if (!result) {
    text.fail(text.line_at(static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0))),
              std::string("what is no XML: ") + result.description(), "well-formed XML");
  }
  const pugi::xml_node root = document.child(name);
  if (!root) text.fail(1, "no <" + std::string(name) + ">", "one at the root");
  DepthCheck check(text);
  document.traverse(check);
  return root;
}

std::size_t line_of(const TopologyText& text, const pugi::xml_node& node) {
  return text.line_at(static_cast<std::size_t>(std::max<std::ptrdiff_t>(node.offset_debug(), 0)));
}

}  // namespace weir::schedule
