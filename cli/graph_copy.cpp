// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/graph_copy.hpp>

#include <weir/io/formats.hpp>

namespace weir::cli {

void warn_of_losses(const Job& job, const io::GraphHeader& header, const CopyOptions& options) {
  const io::Format format =
      options.format == io::Format::automatic ? io::format_by_name(options.path) : options.format;
  const bool says_direction = format == io::Format::graphalytics ||
                              format == io::Format::matrix_market || format == io::Format::metis ||
                              format == io::Format::weir;
  if (header.directed == false && !says_direction && format != io::Format::dimacs) {
    job.warn("the output does not say that edges lead both ways; read it with --undirected");
  }
  if (header.has_vertices && !io::holds_vertices(format)) {
    job.warn("the output holds edges only; vertices without edges are not in it");
  }
}

}  // namespace weir::cli
