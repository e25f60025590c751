// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/superstep/ledger.hpp>

#include <weir/engine/runtime/collectives.hpp>

namespace weir {

LedgerService::LedgerService(Context& context, std::string file, LedgerIdentity identity)
    : context_(context), file_(std::move(file)), identity_(std::move(identity)) {}

std::vector<ShardChange> LedgerService::gather(std::span<const ShardChange> own) {
  std::vector<ShardChange> all;
  if (context_.size() == 1) {
    all.assign(own.begin(), own.end());
    return all;
  }
  std::vector<Rank> others;
  for (Rank rank = 1; context_.is_root() && rank < context_.size(); ++rank) others.push_back(rank);
  Exchange exchange(context_, "ledger",
                    context_.is_root() ? std::vector<Rank>{} : std::vector<Rank>{0},
                    std::move(others));
  Bytes bytes;
  encode(own, bytes);
  if (context_.is_root()) {
    all.assign(own.begin(), own.end());
  } else {
    exchange.send(0, std::move(bytes));
  }
  exchange.close([&](const Batch& batch) {  // by rank ascending, which is by shard
    BytesView in(batch.bytes);
    decode(in, all);
  });
  return all;
}

void LedgerService::open(const LedgerHeader& first, std::span<const ShardChange> own) {
  const std::vector<ShardChange> all = gather(own);
  context_.agree([&] {
    if (!context_.is_root()) return;
    if (first.superstep >= 0) {
      writer_ = LedgerWriter::resume(file_, identity_, first.superstep, all);
      if (writer_) return;
      context_.log(LogLevel::warning, file_ + ": does not lead to the state after superstep " +
                                          std::to_string(first.superstep) +
                                          "; the ledger begins anew with it");
    }
    writer_.emplace(file_, identity_);
    writer_->append(first, all);
  });
}

void LedgerService::append(const LedgerHeader& header, std::span<const ShardChange> own) {
  std::vector<ShardChange> all = gather(own);
  if (!writer_) return;
  if (writing_.valid()) writing_.get();
  writing_ = std::async(std::launch::async,
                        [this, header, all = std::move(all)] { writer_->append(header, all); });
}

void LedgerService::finish() {
  context_.agree([&] {
    if (writing_.valid()) writing_.get();
  });
}

namespace detail {

std::uint64_t hash_of_degrees(Context& context, const Vertices& vertices) {
  const ShardRange own = vertices.shards();
  std::vector<std::uint64_t> sums(own.size());
  context.parallel_for(own.size(), [&](std::size_t s) {
    const ShardIndex shard = own.begin + static_cast<ShardIndex>(s);
    FnvHash hash;
    for (Row row = vertices.first_row(shard); row < vertices.first_row(shard + 1); ++row) {
      hash.add(static_cast<std::uint64_t>(vertices.id(row)));
      hash.add(vertices.in_degree(row) << 32U ^ vertices.out_degree(row));
    }
    const std::uint64_t word = hash.value();
    sums[s] = hash_bytes(std::as_bytes(std::span(&word, 1)), shard);
  });
  std::uint64_t sum = 0;
  for (const std::uint64_t of_shard : sums) sum += of_shard;
  return all_fold(context, Sum<std::uint64_t>{}, sum);
}

void Faults::agree(Context& context, Superstep step) {
  context.agree([&] {
    if (!shard_) return;
    throw Error(ErrorCode::corruption, "superstep " + std::to_string(step) + ", shard " +
                                           std::to_string(*shard_) + ": " + what_);
  });
}

}  // namespace detail

}  // namespace weir
