// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/named_errors.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <weir/engine/graph/names_lookup.hpp>
#include <weir/io/number_text.hpp>

namespace weir::cli {

namespace {

/// An id in a text.
struct Mention {
  std::size_t begin = 0, end = 0;
  VertexId id = 0;
};

/// All errors, those of the engine and those of the algorithms, write an id behind this word.
constexpr std::string_view word = "vertex ";

std::vector<Mention> mentions_in(std::string_view text) {
  std::vector<Mention> mentions;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string_view::npos;) {
    at += word.size();
    const std::size_t end = std::min(text.find_first_not_of("-0123456789", at), text.size());
    if (const auto id = io::parse_integer(text.substr(at, end - at)))
      mentions.push_back({at, end, *id});
  }
  return mentions;
}

template <class E>
std::string with_names(const Graph<E>& graph, std::string text,
                       const std::vector<Mention>& mentions) {
  std::vector<VertexId> ids;
  for (const Mention& mention : mentions) ids.push_back(mention.id);
  const auto names = FetchedNames::fetch(graph, std::move(ids));
  for (auto mention = mentions.rbegin(); mention != mentions.rend(); ++mention) {
    const std::string_view name = names.find(mention->id);
    if (!name.empty()) text.replace(mention->begin, mention->end - mention->begin, io::shown(name));
  }
  return text;
}

}  // namespace

void throw_with_names(const AnyGraph& graph, const Error& error) {
  std::visit(
      [&](const auto& typed) {
        Context& context = typed.context();
        context.fail(error);  // does nothing if all ranks threw it together
        const auto mentions = mentions_in(error.text());
        if (context.failed_by() || !typed.names() || mentions.empty()) throw error;
        context.throw_agreed(
            {error.code(), with_names(typed, std::string(error.text()), mentions)});
      },
      graph);
  throw error;
}

}  // namespace weir::cli
