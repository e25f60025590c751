// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/runtime/transferable.hpp>

#include <cstdint>
#include <memory>

#include <gtest/gtest.h>

namespace weir {

struct Plain {
  std::int32_t id;
  double weight;
};
struct HidesPointer {
  int* target;
};
template <>
inline constexpr bool bitwise<HidesPointer> = false;
struct WithMember {
  std::string name;
  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& name;
  }
};
struct Bare {
  std::string name;
};
struct OptedIn {
  std::string name;
};
template <>
inline constexpr bool serializable<OptedIn> = true;
struct NoDefault {
  explicit NoDefault(int) {}
  std::string name;
  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& name;
  }
};

static_assert(Bitwise<int> && Bitwise<bool> && Bitwise<double> && Bitwise<Plain>);
static_assert(Bitwise<std::pair<int, double>> && Bitwise<std::tuple<int, Plain>>);
static_assert(Bitwise<std::array<std::pair<int, int>, 3>> && Bitwise<std::tuple<>>);
static_assert(Bitwise<std::optional<int>> && Bitwise<std::variant<int, double>>);
static_assert(!Transferable<int*> && !Transferable<int (*)()> && !Transferable<std::nullptr_t>);
static_assert(!Transferable<int Plain::*> && !Transferable<std::pair<int, int*>>);
static_assert(!Transferable<std::optional<int*>> && !Transferable<std::array<const char*, 2>>);
static_assert(!Transferable<std::span<int>> && !Transferable<std::span<const int, 4>>);
static_assert(!Transferable<std::string_view> && !Transferable<std::reference_wrapper<int>>);
static_assert(!Transferable<std::vector<std::string_view>> && !Transferable<HidesPointer>);
static_assert(!Transferable<std::unique_ptr<int>> && !Transferable<Bare>);
static_assert(!Transferable<std::vector<Bare>> && !Transferable<std::map<int, Bare>>);
static_assert(!Transferable<NoDefault>);

static_assert(BoostSerializable<std::string> && BoostSerializable<WithMember>);
static_assert(BoostSerializable<OptedIn> && BoostSerializable<std::vector<OptedIn>>);
static_assert(BoostSerializable<std::vector<int>> && BoostSerializable<std::vector<Plain>>);
static_assert(BoostSerializable<std::map<std::string, std::vector<WithMember>>>);
static_assert(BoostSerializable<std::set<std::pair<int, std::string>>>);
static_assert(BoostSerializable<std::optional<std::string>>);
static_assert(BoostSerializable<std::variant<int, std::string>>);
static_assert(BoostSerializable<std::tuple<int, std::string>>);
static_assert(BoostSerializable<std::array<std::string, 2>>);
static_assert(!Bitwise<std::string> && !BoostSerializable<int>);

TEST(Transferable, IsSettledByTheCompiler) { SUCCEED(); }

}  // namespace weir
