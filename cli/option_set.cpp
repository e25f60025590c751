// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/option_set.hpp>

#include <algorithm>
#include <charconv>

#include <CLI/CLI.hpp>

#include <weir/engine/model/check.hpp>
#include <weir/io/number_text.hpp>

namespace weir::cli {

namespace {

constexpr std::string_view end_of_options = "--";

/// Number of characters to change, insert, drop or swap with the next to get from one to the other.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::vector<std::size_t>> rows(from.size() + 1,
                                             std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) rows[i][0] = i;
  for (std::size_t j = 0; j <= to.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t changed = rows[i - 1][j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      rows[i][j] = std::min({changed, rows[i - 1][j] + 1, rows[i][j - 1] + 1});
      const bool is_swap = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (is_swap) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[from.size()][to.size()];
}

std::string plain_number(double value) {
  std::string text;
  io::append_number(text, value);
  return text;
}

}  // namespace

std::optional<std::string> nearest(std::string_view text, const std::vector<std::string>& names) {
  const std::size_t most = std::max<std::size_t>(1, text.size() / 3);
  std::optional<std::string> best;
  std::size_t best_distance = most + 1;
  for (const std::string& name : names) {
    const bool is_prefix = text.size() >= 3 && name.starts_with(text);
    const std::size_t distance = is_prefix ? 1 : edit_distance(text, name);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = name;
  }
  return best;
}

std::string suggestion(std::string_view text, const std::vector<std::string>& names) {
  const auto best = nearest(text, names);
  return best ? "; did you mean " + *best + "?" : std::string{};
}

void refuse_value(const std::string& name, std::string_view text, const std::string& expected) {
  // What a .properties file says is input, not usage.
  const auto code = name.starts_with(".properties") ? ErrorCode::input : ErrorCode::usage;
  throw Error(code, name + ": found " + io::shown(text) + "; expected " + expected);
}

std::int64_t parse_whole_number(const std::string& name, std::string_view text, std::int64_t least,
                                std::int64_t most) {
  const auto number = io::parse_integer(text);
  if (!number || *number < least || *number > most) {
    const bool is_bounded = most < std::int64_t{1} << 60;
    refuse_value(name, text,
                 "a whole number from " + std::to_string(least) +
                     (is_bounded ? " to " + std::to_string(most) : " up"));
  }
  return *number;
}

double parse_real(const std::string& name, std::string_view text, double least, double most) {
  const auto number = io::parse_finite(text);
  if (!number || *number < least || *number > most) {
    const bool is_bounded = most < 1e300;
    refuse_value(name, text,
                 "a number from " + plain_number(least) +
                     (is_bounded ? " to " + plain_number(most) : " up"));
  }
  return *number;
}

double parse_time(const std::string& name, std::string_view text, double least, double most) {
  constexpr std::pair<std::string_view, double> units[] = {
      {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 24 * 3600}};
  std::string_view digits = text;
  double unit = 1;
  for (const auto& [suffix, seconds] : units) {
    if (!text.ends_with(suffix)) continue;
    digits.remove_suffix(suffix.size());
    unit = seconds;
  }
  const auto number = io::parse_finite(digits);
  if (!number || *number * unit < least || *number * unit > most) {
    refuse_value(name, text,
                 "a time from " + plain_number(least) + " to " + plain_number(most) +
                     " seconds, as 90, 1.5s, 15min, 6h or 30d");
  }
  return *number * unit;
}

std::vector<std::string> split_at_commas(const std::string& name, std::string_view text) {
  std::vector<std::string> items;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    items.emplace_back(text.substr(begin, end - begin));
    if (items.back().empty()) refuse_value(name, text, "items separated by single commas");
    if (end == text.size()) return items;
    begin = end + 1;
  }
}

struct OptionSet::State {
  CLI::App app;
  std::string heading;
  std::vector<std::string> names{"--help"};
  std::vector<std::string> flags;
  /// Arguments without a name, in order, and where they go; the last may take many.
  struct Argument {
    std::string name;
    std::string help;
    std::function<void(std::vector<std::string>)> take;
    bool takes_many = false;
  };
  std::vector<Argument> arguments;
  std::vector<std::string> found;

  State(const std::string& name, const std::string& title) : app(title, name) {}
  std::string help();
  void expect_bare_flags(const std::vector<std::string>& command_line) const;
  void distribute();
  [[noreturn]] void refuse(const std::string& text) const;
};

namespace {

constexpr const char* default_heading = "Options";  // CLI11's name for it
constexpr std::size_t help_column = 34;
constexpr std::size_t help_columns = 100 - help_column;

/// Breaks a line of help between words; CLI11 indents what follows.
std::string wrapped(std::string_view text) {
  std::string lines;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const bool is_first = column == 0;
    const bool fits = column + 1 + word.size() <= help_columns;
    if (!is_first) lines += fits ? ' ' : '\n';
    column = (is_first || !fits ? 0 : column + 1) + word.size();
    lines += word;
  }
  return lines;
}

}  // namespace

OptionSet::OptionSet(const std::string& name, const std::string& title)
    : state_(std::make_unique<State>(name, title)) {
  CLI::App& app = state_->app;
  app.set_help_flag("-h,--help", "print this help");
  app.allow_extras();
  app.add_option("ARGUMENT", state_->found)->group("")->expected(0, -1)->type_name("");
  state_->heading = default_heading;
  app.get_formatter()->column_width(help_column);
}

OptionSet::~OptionSet() = default;

void OptionSet::group(std::string heading) { state_->heading = std::move(heading); }
void OptionSet::footer(std::string text) { state_->app.footer(std::move(text)); }

void OptionSet::flag(const std::string& name, const std::string& help, std::function<void()> take) {
  state_->app
      .add_flag_function(
          name, [take = std::move(take)](std::int64_t) { take(); }, wrapped(help))
      ->disable_flag_override()
      ->group(state_->heading);
  state_->names.push_back(name);
  state_->flags.push_back(name);
}

void OptionSet::value(const std::string& name, const std::string& type, const std::string& help,
                      std::function<void(const std::string&)> take) {
  state_->app
      .add_option(
          name,
          [take = std::move(take), name](const CLI::results_t& values) {
            WEIR_EXPECT(values.size() == 1, usage, name + ": found it twice; expected it once");
            WEIR_EXPECT(!values.front().starts_with("--"), usage,
                        name + ": found no value but " + values.front() + "; expected one");
            take(values.front());
            return true;
          },
          wrapped(help))
      ->type_name(type)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(1)
      ->group(state_->heading);
  state_->names.push_back(name);
}

void OptionSet::argument(const std::string& name, std::string& target, const std::string& help) {
  state_->arguments.push_back({name, help, [&target](std::vector<std::string> items) {
                                 target = std::move(items.front());
                               }});
}

void OptionSet::arguments(const std::string& name, std::vector<std::string>& target,
                          const std::string& help) {
  state_->arguments.push_back(
      {name, help, [&target](std::vector<std::string> items) { target = std::move(items); }, true});
}

std::optional<std::string> OptionSet::parse(const std::vector<std::string>& command_line) {
  CLI::App& app = state_->app;
  state_->expect_bare_flags(command_line);
  try {
    // CLI11 reads from the back.
    app.parse(std::vector<std::string>(command_line.rbegin(), command_line.rend()));
  } catch (const CLI::CallForHelp&) {
    return state_->help();
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string text = error.what();
    throw Error(ErrorCode::usage,
                text.substr(0, text.find_first_of(": ")) + ": found no value; expected one");
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorCode::usage, error.what());
  }
  for (const std::string& extra : app.remaining()) {
    if (extra != end_of_options) state_->refuse(extra);
  }
  state_->distribute();
  return std::nullopt;
}

/// CLI11 takes `--flag=true`, and would take it for any flag.
void OptionSet::State::expect_bare_flags(const std::vector<std::string>& command_line) const {
  for (const std::string& word : command_line) {
    if (word == end_of_options) return;
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = word.substr(0, equals);
    WEIR_EXPECT(
        std::find(flags.begin(), flags.end(), name) == flags.end(), usage,
        name + ": found a value, " + io::shown(word.substr(equals + 1)) + "; expected none");
  }
}

void OptionSet::State::refuse(const std::string& text) const {
  const std::string name = text.substr(0, text.find('='));
  throw Error(ErrorCode::usage,
              name + ": no option of " + app.get_name() + suggestion(name, names));
}

void OptionSet::State::distribute() {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    WEIR_EXPECT(i < found.size(), usage,
                argument.name + ": found nothing; expected " + argument.help + " (see " +
                    app.get_name() + " --help)");
    const auto begin = found.begin() + static_cast<std::ptrdiff_t>(i);
    argument.take({begin, argument.takes_many ? found.end() : begin + 1});
    if (argument.takes_many) return;
  }
  if (found.size() > arguments.size()) {
    throw Error(ErrorCode::usage, found[arguments.size()] + ": found one argument too many");
  }
}

std::string OptionSet::State::help() {
  std::string usage = app.get_name();
  std::string list;
  for (const Argument& argument : arguments) {
    const std::string shown = argument.name + (argument.takes_many ? "..." : "");
    usage += ' ' + shown;
    std::string left = "  " + shown;
    left.resize(std::max(left.size() + 1, help_column), ' ');
    list += left + argument.help + '\n';
  }
  std::string text = app.help();
  const std::size_t begin = text.find("Usage: ");
  const std::size_t end = text.find('\n', begin);
  text.replace(begin, end - begin,
               "\nUsage: " + usage + " [OPTIONS]\n" +
                   (list.empty() ? "" : "\n" + list.substr(0, list.size() - 1)));
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

}  // namespace weir::cli
