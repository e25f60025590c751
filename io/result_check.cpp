// SPDX-License-Identifier: Apache-2.0
#include <weir/io/result_check.hpp>

#include <weir/io/formats.hpp>
#include <weir/io/lines.hpp>
#include <weir/io/number_text.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>

namespace weir::io {
namespace {

struct Row {
  VertexId id = 0;        ///< If the name is a number.
  std::string_view name;  ///< Else.
  std::string_view value;

  bool is_before(const Row& other) const {
    return std::tie(id, name) < std::tie(other.id, other.name);
  }
  std::string text() const { return name.empty() ? std::to_string(id) : std::string(name); }
};

/// The lines of a result file, by id. Holds the text that the rows point into.
class Result {
 public:
  explicit Result(const std::string& path) : input_(Input::open(path, 0, {})) {
    expect_text(input_);
    if (input_.compression() != Compression::none) {
      unpacked_ = decompress(path, input_.compression(), input_.bytes());
      input_ = Input::from_memory(path, unpacked_);
    }
    Lines lines(input_);
    while (lines.next()) add(lines);
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.is_before(b); });
  }

  std::vector<Row> rows;

 private:
  void add(const Lines& lines) {
    std::string_view rest = lines.text();
    const std::string_view name = take_token(rest);
    if (name.empty()) return;
    Row row;
    const auto id = parse_integer(name);
    if (id) {
      row.id = *id;
    } else {
      row.name = name;
    }
    row.value = take_token(rest);
    if (row.value.empty() || !take_token(rest).empty()) {
      lines.fail(shown(trimmed(lines.text())), "an id and a value");
    }
    rows.push_back(row);
  }

  std::string unpacked_;
  Input input_;
};

bool are_exact(std::string_view found, std::string_view expected) {
  if (found == expected) return true;
  const auto a = parse_integer(found), b = parse_integer(expected);
  if (a && b) return *a == *b;
  const auto x = parse_value(found), y = parse_value(expected);
  return x && y && *x == *y;
}

bool are_close(std::string_view found, std::string_view expected, double epsilon) {
  const auto x = parse_value(found), y = parse_value(expected);
  if (!x || !y) return false;
  if (*x == *y) return true;
  return std::isfinite(*x) && std::isfinite(*y) && std::abs(*x - *y) <= epsilon * std::abs(*y);
}

/// Pairs values one to one, by their first meeting.
class Renaming {
 public:
  bool agrees(std::string_view found, std::string_view expected) {
    const auto forth = to_expected_.try_emplace(found, expected).first->second;
    const auto back = to_found_.try_emplace(expected, found).first->second;
    return forth == expected && back == found;
  }

 private:
  std::unordered_map<std::string_view, std::string_view> to_expected_, to_found_;
};

class Comparer {
 public:
  Comparer(Rule rule, double epsilon) : rule_(rule), epsilon_(epsilon) {}

  Comparison compare(const std::vector<Row>& found, const std::vector<Row>& expected) {
    auto f = found.begin();
    for (auto e = expected.begin(); e != expected.end();) {
      const Row& row = *e;
      for (; f != found.end() && f->is_before(row); ++f) mismatch(*f, "an id of the reference");
      ++comparison_.num_vertices;
      if (f == found.end() || row.is_before(*f)) {
        mismatch(row, std::string(row.value), "nothing");
      } else {
        if (!agree(f->value, row.value)) {
          mismatch(row, std::string(row.value), std::string(f->value));
        }
        ++f;
      }
      for (; f != found.end() && !row.is_before(*f); ++f) mismatch(row, "one line for it");
      for (++e; e != expected.end() && !row.is_before(*e); ++e) {
        mismatch(row, "one line for it", "several in the reference");
      }
    }
    for (; f != found.end(); ++f) mismatch(*f, "an id of the reference");
    comparison_.equal = comparison_.num_mismatches == 0;
    return comparison_;
  }

 private:
  bool agree(std::string_view found, std::string_view expected) {
    switch (rule_) {
      case Rule::exact: return are_exact(found, expected);
      case Rule::epsilon: return are_close(found, expected, epsilon_);
      case Rule::equivalence: break;
    }
    return renaming_.agrees(found, expected);
  }

  void mismatch(const Row& row, const std::string& expected, const std::string& found = {}) {
    if (comparison_.num_mismatches++ > 0) return;
    comparison_.first_mismatch = "vertex " + row.text() + ": found " +
                                 (found.empty() ? "another line " + shown(row.value) : found) +
                                 "; expected " + expected;
  }

  Rule rule_;
  double epsilon_;
  Renaming renaming_;
  Comparison comparison_;
};

}  // namespace

Comparison compare_results(const std::string& result_path, const std::string& reference_path,
                           Rule rule, double epsilon) {
  const Result result(result_path);
  const Result reference(reference_path);
  return Comparer(rule, epsilon).compare(result.rows, reference.rows);
}

}  // namespace weir::io
