// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/host_list.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string_view>

#include <weir/io/number_text.hpp>

namespace weir::cli {

namespace {

enum class Form { list, open_mpi_file, mpich_file };
struct HostOption {
  std::string_view name;
  Form form;
};
/// Hydra knows -host, -machinefile and -hostfile too, and its files read alike as far as they go.
constexpr HostOption host_options[] = {{"--host", Form::list},
                                       {"-host", Form::list},
                                       {"-H", Form::list},
                                       {"-hosts", Form::list},
                                       {"--hostfile", Form::open_mpi_file},
                                       {"-hostfile", Form::open_mpi_file},
                                       {"--machinefile", Form::open_mpi_file},
                                       {"-machinefile", Form::open_mpi_file},
                                       {"--default-hostfile", Form::open_mpi_file},
                                       {"-f", Form::mpich_file}};
constexpr std::string_view num_options[] = {"-n", "--n", "-np", "--np", "-c"};

std::string file_name(const std::string& word) {
  return std::filesystem::path(word).filename().string();
}

/// An option of the launcher and its value, in one word or two.
struct Found {
  std::size_t at = 0;
  std::size_t value_at = 0;
  std::string value{};
};

std::optional<Found> find_option(const std::vector<std::string>& words, std::size_t end,
                                 std::string_view name) {
  for (std::size_t i = 0; i < end; ++i) {
    if (words[i] == name && i + 1 < end) return Found{i, i + 1, words[i + 1]};
    const bool has_value =
        name.starts_with("--") && words[i].starts_with(name) && words[i][name.size()] == '=';
    if (has_value) return Found{i, i, words[i].substr(name.size() + 1)};
  }
  return std::nullopt;
}

void set_value(std::vector<std::string>& words, const Found& found, const std::string& name,
               const std::string& value) {
  if (found.at == found.value_at) {
    words[found.at] = name;
    words[found.at].append("=").append(value);
  } else {
    words[found.at] = name;
    words[found.value_at] = value;
  }
}

/// A host of a list, as `name` or `name:slots`.
struct Host {
  std::string name;
  std::string slots{};  ///< a number or *; empty: not said
};

std::vector<Host> hosts_of_list(const std::string& text) {
  std::vector<Host> hosts;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t colon = word.find(':');
    if (word.empty()) continue;
    hosts.push_back(
        {word.substr(0, colon), colon == std::string::npos ? "" : word.substr(colon + 1)});
  }
  return hosts;
}

/// Lines `host`, `host slots=N ...` or `host:N`, and comments from # on. Open MPI takes a host of
/// a file without a number for as many slots as it has cores, one of a list for one.
std::vector<Host> hosts_of_file(const std::string& text, Form form) {
  std::vector<Host> hosts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) continue;
    Host host = hosts_of_list(word).empty() ? Host{word} : hosts_of_list(word).front();
    for (; words >> word;) {
      if (word.starts_with("slots=")) host.slots = word.substr(std::string_view("slots=").size());
    }
    if (host.slots.empty() && form == Form::open_mpi_file) host.slots = "*";
    hosts.push_back(host);
  }
  return hosts;
}

std::string text_of(const std::vector<Host>& hosts) {
  std::string text;
  for (const Host& each : hosts) {
    text += (text.empty() ? "" : ",") + each.name;
    if (!each.slots.empty()) text += ':' + each.slots;
  }
  return text;
}

/// `node7` is `node7.site.org`; addresses are what they are.
bool is_same_host(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto is_address = [](const std::string& name) {
    return name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0;
  };
  if (is_address(a) || is_address(b)) return false;
  const std::size_t dot_a = a.find('.');
  const std::size_t dot_b = b.find('.');
  const bool has_bare_one = dot_a == std::string::npos || dot_b == std::string::npos;
  return has_bare_one && a.substr(0, dot_a) == b.substr(0, dot_b);
}

/// Removes the host; false when it was not there or nothing else is.
bool remove_host(std::vector<Host>& hosts, const std::string& host) {
  const auto num_gone =
      std::erase_if(hosts, [&](const Host& each) { return is_same_host(each.name, host); });
  return num_gone > 0 && !hosts.empty();
}

/// Lowers -n to the slots of the hosts, where each says how many it has.
void fit_num_ranks(std::vector<std::string>& words, std::size_t end,
                   const std::vector<Host>& hosts) {
  std::int64_t num_slots = 0;
  for (const Host& each : hosts) {
    const auto slots =
        each.slots.empty() ? std::int64_t{1} : io::parse_integer(each.slots).value_or(0);
    if (slots <= 0) return;
    num_slots += slots;
  }
  for (const std::string_view name : num_options) {
    const auto found = find_option(words, end, name);
    if (!found) continue;
    const auto num_ranks = io::parse_integer(found->value);
    if (num_ranks && *num_ranks > num_slots)
      set_value(words, *found, std::string(name), std::to_string(num_slots));
  }
}

bool allows_oversubscription(const std::vector<std::string>& words, std::size_t end) {
  return std::any_of(
      words.begin(), words.begin() + static_cast<std::ptrdiff_t>(end), [](std::string word) {
        std::transform(word.begin(), word.end(), word.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return word.find("oversubscribe") != std::string::npos &&
               word.find("nooversubscribe") == std::string::npos;
      });
}

std::optional<std::vector<std::string>> without_host_of_srun(std::vector<std::string> words,
                                                             std::size_t srun, std::size_t end,
                                                             const std::string& host) {
  for (const std::string name : {"--nodelist", "-w"}) {
    const auto found = find_option(words, end, name);
    if (!found || found->value.find('[') != std::string::npos) continue;
    std::vector<Host> hosts = hosts_of_list(found->value);
    if (remove_host(hosts, host)) {
      set_value(words, *found, name, text_of(hosts));
    } else if (hosts.empty()) {
      return std::nullopt;
    }
  }
  for (const std::string name : {"--exclude", "-x"}) {
    const auto found = find_option(words, end, name);
    if (!found) continue;
    set_value(words, *found, name, found->value + ',' + host);
    return words;
  }
  words.insert(words.begin() + static_cast<std::ptrdiff_t>(srun) + 1, "--exclude=" + host);
  return words;
}

}  // namespace

std::optional<std::vector<std::string>> without_host(const std::vector<std::string>& command,
                                                     const std::string& host,
                                                     const ReadText& read_text) {
  const auto is_program = [](const std::string& word) {
    return file_name(word).starts_with("weir");
  };
  const auto end = static_cast<std::size_t>(
      std::find_if(command.begin(), command.end(), is_program) - command.begin());
  for (std::size_t i = 0; i < end; ++i) {
    if (file_name(command[i]) == "srun") return without_host_of_srun(command, i, end, host);
  }
  for (const HostOption& option : host_options) {
    const auto found = find_option(command, end, option.name);
    if (!found) continue;
    std::vector<Host> hosts;
    if (option.form == Form::list) {
      hosts = hosts_of_list(found->value);
    } else if (const auto text = read_text(found->value)) {
      hosts = hosts_of_file(*text, option.form);
    }
    if (!remove_host(hosts, host)) return std::nullopt;
    std::vector<std::string> words = command;
    const bool is_hydra = option.name == "-hosts" || option.form == Form::mpich_file;
    const std::string name = option.form == Form::list ? std::string(option.name)
                             : is_hydra                ? "-hosts"
                                                       : "--host";
    set_value(words, *found, name, text_of(hosts));
    // Hydra begins anew at the first host when there are more ranks than places.
    if (!is_hydra && !allows_oversubscription(words, end)) fit_num_ranks(words, end, hosts);
    return words;
  }
  return std::nullopt;
}

}  // namespace weir::cli
