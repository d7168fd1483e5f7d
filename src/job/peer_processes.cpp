// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/job/peer_processes.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "a2aperf/job/process_status.hpp"

namespace a2aperf {

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
        const ProcessStatus status = process_status(process.id);
        if (!status.has_ended()) watched_.push_back({static_cast<Rank>(rank), process.id, status.started});
    }
}

std::vector<Rank> PeerProcesses::ended() const {
    std::vector<Rank> ranks;
    for (const Watched& process : watched_)
        if (process_status(process.id).has_ended(process.started)) ranks.push_back(process.rank);
    return ranks;
}

} // namespace a2aperf
