// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include <gtest/gtest.h>

#include <weir/tests/reference/graph_files.hpp>

namespace weir::reference {

/// Tests on shared data skip, visibly, where it is absent.
class ReferenceData : public testing::Test {
 protected:
  void SetUp() override {
    const auto folder = data_folder();
    if (!folder) GTEST_SKIP() << "no shared test data: set WEIR_TEST_DATA";
    graphs_ = *folder / "graphs";
  }

  std::filesystem::path graphs_;
};

}  // namespace weir::reference
