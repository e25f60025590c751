// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <weir/cli/descriptor.hpp>
#include <weir/cli/supervised.hpp>

namespace weir::cli {

/// The folder of a supervised job, under TMPDIR: locked while the supervisor lives and removed at
/// its end.
class OwnedFolder {
 public:
  /// Throws Error{output}.
  OwnedFolder();
  ~OwnedFolder();
  OwnedFolder(const OwnedFolder&) = delete;
  OwnedFolder& operator=(const OwnedFolder&) = delete;

  const JobFolder& get() const { return folder_; }

 private:
  JobFolder folder_;
  Descriptor lock_;
};

/// Clears what jobs of supervisors that were killed left behind, ranks that were stopped included.
void clear_abandoned();

}  // namespace weir::cli
