// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weir {

/// Where a failure may strike a snapshot; tests let it.
enum class SnapshotPoint {
  file,             ///< half of a rank's file is written
  before_manifest,  ///< rank 0 has written the manifest, which has not got its name yet
  after_manifest,   ///< it has: the snapshot is whole
  reading           ///< half of a rank's shards are read
};

}  // namespace weir
