// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::cli {

/// The name among `names` that was probably meant, if any is near enough.
std::optional<std::string> nearest(std::string_view text, const std::vector<std::string>& names);

/// `; did you mean NAME?`, or nothing.
std::string suggestion(std::string_view text, const std::vector<std::string>& names);

/// Throws Error{usage}: `NAME: found "TEXT"; expected EXPECTED`.
[[noreturn]] void refuse_value(const std::string& name, std::string_view text,
                               const std::string& expected);

/// Numbers as options have them; `name` is for errors. Throws Error{usage}.
std::int64_t parse_whole_number(const std::string& name, std::string_view text, std::int64_t least,
                                std::int64_t most);
double parse_real(const std::string& name, std::string_view text, double least, double most);
/// A time such as 90, 1.5s, 15min, 6h or 30d, in seconds; bounds too.
double parse_time(const std::string& name, std::string_view text, double least, double most);

/// Items between commas; an empty one is refused.
std::vector<std::string> split_at_commas(const std::string& name, std::string_view text);

/// The options and arguments of one subcommand, each with its line of help.
///
/// Every fault of the command line is an Error{usage} whose text begins with the option's name.
class OptionSet {
 public:
  /// `title` is the command's name and what it does, for its help.
  OptionSet(const std::string& name, const std::string& title);
  ~OptionSet();
  OptionSet(const OptionSet&) = delete;
  OptionSet& operator=(const OptionSet&) = delete;

  /// Heading of the options that follow.
  void group(std::string heading);
  /// Text below the options: examples.
  void footer(std::string text);

  void flag(const std::string& name, const std::string& help, std::function<void()> take);
  void flag(const std::string& name, bool& target, const std::string& help) {
    flag(name, help, [&target] { target = true; });
  }
  /// An option with one value, given once at most.
  void value(const std::string& name, const std::string& type, const std::string& help,
             std::function<void(const std::string&)> take);

  void text(const std::string& name, const std::string& type, std::string& target,
            const std::string& help) {
    value(name, type, help, [&target](const std::string& found) { target = found; });
  }

  /// A whole number; `Target` is an integer or an optional one.
  template <class Target>
  void whole_number(const std::string& name, Target& target,
                    std::pair<std::int64_t, std::int64_t> bounds, const std::string& help) {
    value(name, "N", help, [&target, name, bounds](const std::string& found) {
      target = static_cast<NumberOf<Target>>(
          parse_whole_number(name, found, bounds.first, bounds.second));
    });
  }
  template <class Target>
  void real(const std::string& name, Target& target, std::pair<double, double> bounds,
            const std::string& help) {
    value(name, "X", help, [&target, name, bounds](const std::string& found) {
      target = parse_real(name, found, bounds.first, bounds.second);
    });
  }

  /// One of a few words.
  template <class T>
  void choice(const std::string& name, T& target, std::vector<std::pair<std::string, T>> words,
              const std::string& help) {
    std::string type;
    for (const auto& [word, meaning] : words) type += (type.empty() ? "" : "|") + word;
    value(name, type, help, [&target, name, type, words](const std::string& found) {
      for (const auto& [word, meaning] : words) {
        if (word != found) continue;
        target = meaning;
        return;
      }
      refuse_value(name, found, type);
    });
  }

  /// The next argument without a name. Arguments are required.
  void argument(const std::string& name, std::string& target, const std::string& help);
  /// All remaining arguments, at least one.
  void arguments(const std::string& name, std::vector<std::string>& target,
                 const std::string& help);

  /// Reads the command line; returns the text of --help if that was asked for.
  std::optional<std::string> parse(const std::vector<std::string>& command_line);

 private:
  template <class T>
  struct Number {
    using type = T;
  };
  template <class T>
  struct Number<std::optional<T>> {
    using type = T;
  };
  template <class T>
  using NumberOf = typename Number<T>::type;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weir::cli
