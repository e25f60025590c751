// SPDX-License-Identifier: Apache-2.0
// weir ledger: checks and compares what runs said of their supersteps.
#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <weir/cli/command.hpp>
#include <weir/cli/report_json.hpp>
#include <weir/cli/standard_output.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/resilience/ledger_file.hpp>
#include <weir/engine/runtime/collectives.hpp>

namespace weir::cli {

namespace {

using weir::hexadecimal;  // of bytes, not the number of report_json.hpp

constexpr std::size_t most_proof_bytes = std::size_t{1} << 20;

enum class Action { verify, diff, prove, check };

std::string when(Superstep superstep) {
  return superstep < 0 ? "before superstep 0" : "after superstep " + std::to_string(superstep);
}

/// Reads to the end, or throws where it breaks.
void read_all(LedgerReader& reader) {
  while (reader.next()) {
  }
}

std::string text_of(const LedgerProof& proof) {
  Json path = Json::array();
  for (const Hash& hash : proof.path) path.push_back(hexadecimal(hash));
  const LedgerHeader& header = proof.header;
  const Json json = {{"weir_ledger_proof", 1},
                     {"superstep", header.superstep},
                     {"shard", proof.shard},
                     {"num_shards", proof.num_shards},
                     {"state", hexadecimal(proof.digests.state)},
                     {"messages", hexadecimal(proof.digests.messages)},
                     {"path", path},
                     {"root", hexadecimal(header.root)},
                     {"phase", header.phase},
                     {"num_unhalted", header.num_unhalted},
                     {"num_scattered", header.num_scattered},
                     {"num_sent", header.num_sent},
                     {"agreed", hexadecimal(header.agreed)},
                     {"previous", hexadecimal(proof.previous)},
                     {"hash", hexadecimal(proof.hash)}};
  return json.dump(2) + '\n';
}

/// Takes the members of a proof from a file that may hold anything.
class ProofFile {
 public:
  explicit ProofFile(const std::string& path) : path_(path) {
    std::ifstream in(path, std::ios::binary);
    WEIR_EXPECT(in.good(), input, path + ": cannot open");
    std::string text(most_proof_bytes + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    expect(text.size() <= most_proof_bytes, "it is above 1 MiB");
    json_ = Json::parse(text, nullptr, false);
    expect(json_.is_object() && json_.contains("weir_ledger_proof"),
           "it is no JSON object with weir_ledger_proof");
    expect(number("weir_ledger_proof") == 1, "its version is not 1");
  }

  LedgerProof proof() const {
    LedgerProof proof;
    proof.num_shards = static_cast<std::uint64_t>(number("num_shards"));
    proof.shard = static_cast<std::uint32_t>(number("shard", 0xffffffff));
    take("state", proof.digests.state);
    take("messages", proof.digests.messages);
    expect(json_.contains("path") && json_["path"].is_array(), "path is no list");
    for (const Json& each : json_["path"]) take(each, "path", proof.path.emplace_back());
    LedgerHeader& header = proof.header;
    take("root", header.root);
    header.superstep = number("superstep", INT64_MAX, -1);
    header.phase = static_cast<std::uint64_t>(number("phase"));
    header.num_unhalted = static_cast<std::uint64_t>(number("num_unhalted"));
    header.num_scattered = static_cast<std::uint64_t>(number("num_scattered"));
    header.num_sent = static_cast<std::uint64_t>(number("num_sent"));
    take("agreed", header.agreed);
    take("previous", proof.previous);
    take("hash", proof.hash);
    return proof;
  }

 private:
  void expect(bool holds, const std::string& fault) const {
    WEIR_EXPECT(holds, input, path_ + ": is no proof of a ledger: " + fault);
  }
  std::int64_t number(const char* name, std::int64_t most = INT64_MAX,
                      std::int64_t least = 0) const {
    expect(json_.contains(name) && json_[name].is_number_integer(),
           std::string(name) + " is no whole number");
    const bool is_small = !json_[name].is_number_unsigned() ||
                          json_[name].get<std::uint64_t>() <= std::uint64_t{INT64_MAX};
    expect(is_small && json_[name].get<std::int64_t>() >= least &&
               json_[name].get<std::int64_t>() <= most,
           std::string(name) + " is out of range");
    return json_[name].get<std::int64_t>();
  }
  void take(const char* name, std::span<std::byte> bytes) const {
    expect(json_.contains(name), std::string(name) + " is missing");
    take(json_[name], name, bytes);
  }
  void take(const Json& json, const char* name, std::span<std::byte> bytes) const {
    expect(
        json.is_string() && parse_hexadecimal(json.get_ref<const std::string&>(), bytes),
        std::string(name) + " is not " + std::to_string(2 * bytes.size()) + " hexadecimal digits");
  }

  std::string path_;
  Json json_;
};

class LedgerCommand final : public Command {
 public:
  void declare(OptionSet& options) override;
  void check() override;
  int run(Job& job) const override {
    int code = exit_done;
    job.context.agree([&] {
      if (job.is_root()) code = act();
    });
    return all_gather(job.context, code).front();
  }

 private:
  int act() const {
    switch (action_) {
      case Action::verify: return verify();
      case Action::diff: return diff();
      case Action::prove: return prove();
      case Action::check: break;
    }
    return check_proof();
  }
  int verify() const;
  int diff() const;
  int prove() const;
  int check_proof() const;

  std::string what_;
  Action action_ = Action::verify;
  std::vector<std::string> files_;
  std::optional<Superstep> superstep_;
  std::optional<std::uint64_t> shard_;
  std::string output_ = "-";
  std::string expected_hash_;
  std::string expected_root_;
};

void LedgerCommand::declare(OptionSet& options) {
  options.argument("WHAT", what_,
                   "verify FILE: all hashes, or where they break; diff A B: the first superstep "
                   "and shard in which two runs part; prove FILE: what a ledger says of one shard, "
                   "to be checked without it; check PROOF");
  options.arguments("FILE", files_, "ledgers that weir run --ledger wrote; a proof");
  options.whole_number("--superstep", superstep_, {-1, INT64_MAX},
                       "prove: which; -1 is before the first");
  options.whole_number("--shard", shard_, {0, INT64_C(0xffffffff)}, "prove: which");
  options.text("--output", "FILE", output_, "prove: where the proof goes (default -, stdout)");
  options.text("--hash", "HASH", expected_hash_,
               "verify: what the last header's hash must be; check: the superstep's header's");
  options.text("--root", "HASH", expected_root_, "check: what the superstep's root must be");
  options.footer(
      "Exit codes: 0 all is as it says, 1 two ledgers differ or a proof does not hold, 3 a file "
      "cannot be\nread or its chain is broken.\n\n"
      "Examples:\n"
      "  weir run pagerank graph.e --ledger run.ledger\n"
      "  weir ledger verify run.ledger\n"
      "  weir ledger diff monday.ledger tuesday.ledger\n"
      "  weir ledger prove run.ledger --superstep 7 --shard 13 --output proof.json\n"
      "  weir ledger check proof.json --root 5feceb66ffc86f38...\n");
}

void LedgerCommand::check() {
  const std::vector<std::pair<std::string, Action>> words = {{"verify", Action::verify},
                                                             {"diff", Action::diff},
                                                             {"prove", Action::prove},
                                                             {"check", Action::check}};
  const auto word = std::find_if(words.begin(), words.end(),
                                 [&](const auto& each) { return each.first == what_; });
  if (word == words.end()) refuse_value("WHAT", what_, "verify, diff, prove or check");
  action_ = word->second;
  const std::size_t num_files = action_ == Action::diff ? 2 : 1;
  WEIR_EXPECT(files_.size() == num_files, usage,
              "FILE: found " + std::to_string(files_.size()) + "; " + what_ + " expects " +
                  std::to_string(num_files));
  const bool is_prove = action_ == Action::prove;
  WEIR_EXPECT(is_prove == superstep_.has_value() && is_prove == shard_.has_value(), usage,
              "--superstep, --shard: expected both with prove, and with nothing else");
  WEIR_EXPECT(is_prove || output_ == "-", usage, "--output: expected it with prove alone");
  WEIR_EXPECT(expected_hash_.empty() || action_ == Action::verify || action_ == Action::check,
              usage, "--hash: expected it with verify or check");
  WEIR_EXPECT(expected_root_.empty() || action_ == Action::check, usage,
              "--root: expected it with check alone");
  for (const auto& [name, text] :
       {std::pair("--hash", &expected_hash_), std::pair("--root", &expected_root_)}) {
    Hash hash;
    if (!text->empty() && !parse_hexadecimal(*text, hash))
      refuse_value(name, *text, "64 hexadecimal digits");
    std::transform(text->begin(), text->end(), text->begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  }
}

int LedgerCommand::verify() const {
  LedgerReader reader(files_[0]);
  std::uint64_t num_records = 0;
  while (reader.next()) ++num_records;
  WEIR_EXPECT(num_records > 0, input, files_[0] + ": is cut off; it has no superstep");
  const std::string hash = hexadecimal(reader.hash());
  if (!expected_hash_.empty() && hash != expected_hash_) {
    print("different: the chain is whole, but its last hash is " + hash + ", not " +
          expected_hash_ + '\n');
    return exit_failed;
  }
  print("whole: " + std::to_string(num_records) + " states of " +
        std::to_string(reader.identity().num_shards) + " shards, the last " +
        when(reader.header().superstep) + "; last hash " + hash + '\n');
  return exit_done;
}

int LedgerCommand::diff() const {
  LedgerReader a(files_[0]), b(files_[1]);
  WEIR_EXPECT(a.identity().num_shards == b.identity().num_shards, input,
              files_[0] + " has " + std::to_string(a.identity().num_shards) + " shards, " +
                  files_[1] + " has " + std::to_string(b.identity().num_shards) +
                  ": the graphs or --shards differ, and there is nothing to compare");
  bool is_different = false;
  bool is_synchronous = true;
  const auto value_in = [](const LedgerIdentity& identity, const std::string& name) {
    const auto at = std::find_if(identity.configuration.begin(), identity.configuration.end(),
                                 [&](const auto& each) { return each.first == name; });
    return at == identity.configuration.end() ? std::string("nothing") : at->second;
  };
  const auto compare_names = [&](const LedgerIdentity& named, const LedgerIdentity& seen) {
    for (const auto& [name, value] : named.configuration) {
      if (name == "supersteps" && value != "synchronous") is_synchronous = false;
      const std::string own = value_in(a.identity(), name);
      const std::string other = value_in(b.identity(), name);
      const bool is_told = &named != &seen && value_in(seen, name) != "nothing";
      if (own == other || is_told) continue;
      is_different = true;
      print("configuration: " + name + " is " + own + " in " + files_[0] + ", " + other + " in " +
            files_[1] + '\n');
    }
  };
  compare_names(a.identity(), a.identity());
  compare_names(b.identity(), a.identity());  // what only the second has
  if (!is_synchronous) {
    read_all(a);
    read_all(b);
    print("a run to local fixed points: the last states alone can be compared\n");
  } else {
    bool has_a = a.next(), has_b = b.next();
    while (has_a && has_b && a.header().superstep < b.header().superstep) has_a = a.next();
    while (has_a && has_b && b.header().superstep < a.header().superstep) has_b = b.next();
    if (!has_a || !has_b) {
      print("different: there is no superstep that both have\n");
      return exit_failed;
    }
    LedgerHeader last = a.header();
    while (has_a && has_b && a.header() == b.header()) {
      last = a.header();
      has_a = a.next();
      has_b = b.next();
    }
    if (has_a != has_b) {
      print("different: equal up to " + when(last.superstep) + ", where " + files_[has_a ? 1 : 0] +
            " ends and the other goes on\n");
      return exit_failed;
    }
    if (!has_a) {
      print((is_different ? "different in configuration, equal in all states" : "equal") +
            std::string(": ") + std::to_string(a.identity().num_shards) + " shards, the last " +
            when(last.superstep) + '\n');
      return is_different ? exit_failed : exit_done;
    }
  }
  std::vector<std::size_t> shards;
  for (std::size_t shard = 0; shard < a.identity().num_shards; ++shard) {
    if (a.tree().leaf(shard) != b.tree().leaf(shard)) shards.push_back(shard);
  }
  if (shards.empty() && !is_synchronous) {
    print(is_different ? "different in configuration, equal at the end\n" : "equal at the end\n");
    return is_different ? exit_failed : exit_done;
  }
  std::string text = "different: first " + when(a.header().superstep) + ", in ";
  if (shards.empty()) {
    text += "what all ranks know: aggregates, master, phase or counts; all shards are equal";
  } else {
    const ShardDigests& left = a.tree().leaf(shards[0]);
    const ShardDigests& right = b.tree().leaf(shards[0]);
    text += "shard " + std::to_string(shards[0]) + " (" +
            (left.state != right.state
                 ? (left.messages != right.messages ? "state and messages" : "state")
                 : "messages") +
            "); " + std::to_string(shards.size()) + " of " +
            std::to_string(a.identity().num_shards) + " shards differ";
  }
  print(text + '\n');
  return exit_failed;
}

int LedgerCommand::prove() const {
  LedgerReader reader(files_[0]);
  const std::uint64_t num_shards = reader.identity().num_shards;
  WEIR_EXPECT(*shard_ < num_shards, usage,
              "--shard: found " + std::to_string(*shard_) + "; there are " +
                  std::to_string(num_shards) + ", 0 is the first");
  while (reader.next()) {
    if (reader.header().superstep != *superstep_) continue;
    const LedgerProof proof{.num_shards = num_shards,
                            .shard = static_cast<std::uint32_t>(*shard_),
                            .digests = reader.tree().leaf(*shard_),
                            .path = reader.tree().path(*shard_),
                            .header = reader.header(),
                            .previous = reader.previous(),
                            .hash = reader.hash()};
    const std::string text = text_of(proof);
    if (is_standard_output(output_)) {
      print(text);
      return exit_done;
    }
    std::ofstream out(output_, std::ios::binary);
    out << text << std::flush;
    WEIR_EXPECT(out.good(), output, output_ + ": cannot write");
    print("root " + hexadecimal(proof.header.root) + "\nhash " + hexadecimal(proof.hash) + '\n');
    return exit_done;
  }
  throw Error(ErrorCode::usage, "--superstep: found " + std::to_string(*superstep_) +
                                    ", which is not in " + files_[0]);
}

int LedgerCommand::check_proof() const {
  const LedgerProof proof = ProofFile(files_[0]).proof();
  std::string fault = fault_of(proof);
  if (fault.empty() && !expected_root_.empty() && hexadecimal(proof.header.root) != expected_root_)
    fault = "its root is " + hexadecimal(proof.header.root) + ", not " + expected_root_;
  if (fault.empty() && !expected_hash_.empty() && hexadecimal(proof.hash) != expected_hash_)
    fault = "its hash is " + hexadecimal(proof.hash) + ", not " + expected_hash_;
  if (!fault.empty()) {
    print("does not hold: " + fault + '\n');
    return exit_failed;
  }
  const bool is_anchored = !expected_root_.empty() || !expected_hash_.empty();
  print("holds: shard " + std::to_string(proof.shard) + " " + when(proof.header.superstep) +
        " had state " + hexadecimal(proof.digests.state) + " and messages " +
        hexadecimal(proof.digests.messages) +
        (is_anchored ? "\n"
                     : "; compare its hash with one you trust: " + hexadecimal(proof.hash) + '\n'));
  return exit_done;
}

}  // namespace

std::unique_ptr<Command> make_ledger_command() { return std::make_unique<LedgerCommand>(); }

}  // namespace weir::cli
