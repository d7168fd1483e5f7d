// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/job/peer_processes.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include <fmt/format.h>

namespace a2aperf {
namespace {

struct Status {
    char state = 'X';    // as of a process that is gone
    std::string started; // clock ticks since the machine's start
};

// proc(5): "42 (name) S …"; the name may hold anything. The 20th field after it is the time of the start.
Status status_of(std::int64_t id) {
    constexpr int kBetween = 18;
    std::ifstream file(fmt::format("/proc/{}/stat", id));
    std::string line;
    Status status;
    if (!std::getline(file, line) || line.rfind(')') == std::string::npos) return status;
    std::istringstream fields(line.substr(line.rfind(')') + 1));
    fields >> status.state;
    for (int i = 0; i < kBetween; ++i) fields >> status.started;
    fields >> status.started;
    return status;
}

bool has_ended(const Status& status) {
    return status.state == 'Z' || status.state == 'X';
}

} // namespace

PeerProcesses::Process PeerProcesses::own() {
    std::string machine;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), machine);
    std::error_code error;
    const std::string ids = std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
    const bool is_known = !machine.empty() && !error;
    return {is_known ? std::hash<std::string>()(machine + ids) : 0, getpid()};
}

PeerProcesses::PeerProcesses(std::span<const Process> of_rank) {
    const Process self = own();
    if (self.home == 0) return;
    for (std::size_t rank = 0; rank < of_rank.size(); ++rank) {
        const Process& process = of_rank[rank];
        if (process.home != self.home || process.id == self.id) continue;
        const Status status = status_of(process.id);
        if (!has_ended(status)) watched_.push_back({static_cast<Rank>(rank), process.id, status.started});
    }
}

std::vector<Rank> PeerProcesses::ended() const {
    std::vector<Rank> ranks;
    for (const Watched& process : watched_) {
        const Status status = status_of(process.id);
        if (has_ended(status) || status.started != process.started) ranks.push_back(process.rank);
    }
    return ranks;
}

} // namespace a2aperf
