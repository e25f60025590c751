// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <weir/engine/model/error.hpp>
#include <weir/engine/model/monoid.hpp>

int main() {
  const weir::Sum<int> sum;
  const weir::Error error(weir::ErrorCode::input, "a sum that is not five");
  if (sum(2, 3) == 5) return 0;
  std::fputs(error.what(), stderr);
  return 1;
}
