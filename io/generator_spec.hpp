// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace weir::io {

/// `KIND:KEY=VALUE,...` taken apart; a value without a key is kept under the empty key. Every
/// fault is an Error{usage} that names the key.
class GeneratorSpec {
 public:
  explicit GeneratorSpec(std::string_view text);

  const std::string& kind() const { return kind_; }
  bool has(const std::string& key) const { return values_.count(key) > 0; }

  /// Takes a whole number from `least` to `most` out of the spec.
  std::uint64_t take_count(const std::string& key, std::uint64_t least, std::uint64_t most,
                           std::optional<std::uint64_t> otherwise = {});
  double take_real(const std::string& key, double least, double most, double otherwise);
  std::string take_text(const std::string& key);

  /// Throws if a key was not taken, which is one that the kind does not know.
  void expect_all_taken() const;

  [[noreturn]] void fail(const std::string& key, const std::string& found,
                         const std::string& expected) const;

 private:
  std::string kind_;
  std::map<std::string, std::string> values_;
};

}  // namespace weir::io
