// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weir::cli {

/// The text of a file, or nothing when it cannot be read.
using ReadText = std::function<std::optional<std::string>(const std::string& path)>;

/// The command of a launcher that starts no ranks on `host` any more; nothing when it names no
/// hosts, or not this one, or no other.
///
/// Known are Open MPI's `--host` and `--hostfile`, MPICH's `-hosts` and `-f`, each by all its
/// names, and srun, which gets an `--exclude`. A file of hosts becomes a list. Where Open MPI has
/// more ranks to start than the hosts left have slots, it starts fewer. Nothing behind the word
/// whose file name begins with `weir` is looked at.
std::optional<std::vector<std::string>> without_host(const std::vector<std::string>& command,
                                                     const std::string& host,
                                                     const ReadText& read_text);

}  // namespace weir::cli
