// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/result_writer.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <weir/cli/signals.hpp>
#include <weir/cli/standard_output.hpp>
#include <weir/engine/graph/names_lookup.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/collectives.hpp>
#include <weir/io/number_text.hpp>
#include <weir/io/output_file.hpp>

namespace weir::cli {

namespace {

/// Vertices whose lines travel together, and those that one thread writes.
constexpr std::size_t piece_rows = std::size_t{1} << 17;
constexpr std::size_t task_rows = std::size_t{1} << 13;

/// The lines of one rank's vertices.
class Lines {
 public:
  /// Collective where ids have names.
  Lines(const AnyGraph& graph, const AlgorithmResult& result)
      : result_(result), rows_(result.vertices->rows_by_id()) {
    std::visit(
        [&](const auto& typed) {
          names_ = typed.names();
          if (names_) value_names_ = FetchedNames::fetch(typed, ids_in_values(typed.context()));
        },
        graph);
    append_id_ = [this](VertexId id, std::string& text) {
      const std::string_view name = value_names_ ? value_names_->find(id) : "";
      if (name.empty()) return io::append_number(text, id);
      text += name;
    };
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  std::size_t num_rows() const { return rows_.size(); }

  /// Text of the rows [begin, end) in order of id, put together by this rank's threads.
  std::string text(Context& context, std::size_t begin, std::size_t end) const {
    const auto parts = in_tasks<std::string>(
        context, begin, end,
        [&](std::string& text, std::size_t i) { append_line(rows_[i], text); });
    std::string whole;
    for (const std::string& part : parts) whole += part;
    return whole;
  }

 private:
  /// Calls add(part, i) for each i in [begin, end), on this rank's threads; returns the parts.
  template <class Part, class F>
  static std::vector<Part> in_tasks(Context& context, std::size_t begin, std::size_t end,
                                    const F& add) {
    std::vector<Part> parts((end - begin + task_rows - 1) / task_rows);
    context.parallel_for(parts.size(), [&](std::size_t task) {
      const std::size_t first = begin + task * task_rows;
      const std::size_t last = std::min(first + task_rows, end);
      for (std::size_t i = first; i < last; ++i) add(parts[task], i);
    });
    return parts;
  }

  /// Every id that a value of this rank holds; found out by writing the values to nowhere.
  std::vector<VertexId> ids_in_values(Context& context) const {
    using Ids = std::vector<VertexId>;
    const auto parts = in_tasks<Ids>(context, 0, rows_.size(), [&](Ids& ids, std::size_t i) {
      std::string text;
      const auto keep = [&](VertexId id, std::string&) { ids.push_back(id); };
      result_.append_value(rows_[i], keep, text);
    });
    Ids all;
    for (const Ids& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  }

  void append_line(Row row, std::string& text) const {
    const VertexId id = result_.vertices->id(row);
    if (names_) {
      text += names_->name_of(id);
    } else {
      io::append_number(text, id);
    }
    text += ' ';
    result_.append_value(row, append_id_, text);
    text += '\n';
  }

  const AlgorithmResult& result_;
  std::span<const Row> rows_;
  std::shared_ptr<const VertexNames> names_;
  std::optional<FetchedNames> value_names_;
  AppendId append_id_;
};

/// Root's end: keeps the first failure and takes pieces without effect from then on, so that the
/// other ranks are not left waiting.
class Receiver {
 public:
  Receiver(const Job& job, const std::string& path) : job_(job) {
    attempt([&] {
      if (is_standard_output(path)) {
        file_ = std::make_unique<io::OutputFile>(STDOUT_FILENO, "standard output");
      } else {
        SignalWatch::will_write(path);
        file_ = std::make_unique<io::OutputFile>(path);
      }
    });
  }

  bool has_failed() const { return static_cast<bool>(failure_); }

  void write(std::string_view text) {
    attempt([&] {
      job_.throw_if_cancelled();
      file_->write(text);
    });
  }

  void commit() {
    if (!failure_) attempt([&] { file_->commit(); });
    file_.reset();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  template <class F>
  void attempt(const F& action) {
    if (failure_) return;
    try {
      action();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  const Job& job_;
  std::unique_ptr<io::OutputFile> file_;
  std::exception_ptr failure_;
};

Bytes to_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string_view to_text(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Brings one rank's pieces to root, each only when root has asked for it by closing its end.
class PieceTransfer {
 public:
  PieceTransfer(Context& context, Rank source, std::size_t num_rows)
      : context_(context), source_(source), num_rows_(num_rows) {}

  void send(const Lines& lines) const {
    bool is_wanted = true;
    for (std::size_t begin = 0; begin < num_rows_; begin += piece_rows) {
      Bytes text;
      if (is_wanted) {
        text = to_bytes(lines.text(context_, begin, std::min(begin + piece_rows, num_rows_)));
      }
      Exchange exchange(context_, "result", {0}, {0});
      exchange.send(0, std::move(text));
      exchange.close([&](const Batch& answer) {
        if (answer.source == 0) is_wanted = answer.bytes.empty();
      });
    }
  }

  void receive(Receiver& receiver) const {
    for (std::size_t begin = 0; begin < num_rows_; begin += piece_rows) {
      Exchange exchange(context_, "result", {source_}, {source_});
      exchange.send(source_, Bytes(receiver.has_failed() ? 1 : 0));
      Bytes text;
      exchange.close([&](Batch batch) {
        if (batch.source == source_) text = std::move(batch.bytes);
      });
      receiver.write(to_text(text));
    }
  }

  /// The others take part in the count of operations.
  void skip() const {
    for (std::size_t begin = 0; begin < num_rows_; begin += piece_rows) {
      Exchange exchange(context_, "result", {}, {});
      exchange.close([](const Batch&) {});
    }
  }

 private:
  Context& context_;
  Rank source_;
  std::size_t num_rows_;
};

}  // namespace

void expect_writable(Job& job, const std::string& path) {
  if (is_standard_output(path)) return;
  job.context.agree([&] {
    if (!job.is_root()) return;
    std::error_code error;
    const auto folder = std::filesystem::path(io::output_target(path)).parent_path();
    const std::string name = folder.empty() ? "." : folder.string();
    const auto is_writable = [](const std::string& file) {
      return ::access(file.c_str(), W_OK) == 0;
    };
    WEIR_EXPECT(!std::filesystem::is_directory(path, error), output,
                path + ": found a folder; expected the name of a file");
    WEIR_EXPECT(std::filesystem::is_directory(name, error), output,
                path + ": cannot create: there is no folder " + name);
    const bool is_special =
        std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error);
    WEIR_EXPECT(is_special ? is_writable(path) : is_writable(name), output,
                path + ": cannot create: no permission to write there");
  });
}

void write_result(Job& job, const AnyGraph& graph, const AlgorithmResult& result,
                  const std::string& path) {
  Context& context = job.context;
  const Lines lines(graph, result);
  const auto row_counts = all_gather(context, std::uint64_t{lines.num_rows()});
  std::optional<Receiver> receiver;
  if (context.is_root()) receiver.emplace(job, path);
  for (Rank source = 0; source < context.size(); ++source) {
    const auto num_rows = static_cast<std::size_t>(row_counts[static_cast<std::size_t>(source)]);
    const PieceTransfer transfer(context, source, num_rows);
    if (source == 0) {
      for (std::size_t begin = 0; receiver && begin < num_rows; begin += piece_rows) {
        receiver->write(lines.text(context, begin, std::min(begin + piece_rows, num_rows)));
      }
    } else if (context.rank() == source) {
      transfer.send(lines);
    } else if (context.is_root()) {
      transfer.receive(*receiver);
    } else {
      transfer.skip();
    }
  }
  // A signal may have come to another rank alone.
  context.agree([&] { job.throw_if_cancelled(); });
  context.agree([&] {
    if (receiver) receiver->commit();
  });
}

}  // namespace weir::cli
