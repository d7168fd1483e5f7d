// SPDX-License-Identifier: BSD-3-Clause
// Where this process may run, and how far that is from a device.
#pragma once

#include <sched.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace a2aperf {

struct Locality {
    std::vector<int> cores; // physical cores this process may run on, numbered over the machine
    std::string cpu_list;   // CPUs it may run on, "0-3,8"
    std::vector<int> numa_nodes;
    int machine_numa_nodes = 1;
    int machine_cores = 0; // that the system lets anyone use, whatever this process is bound to
};

Locality this_locality();

// The first CPU of each of them that this process may run on.
std::vector<int> cpus_of_cores();
// What the calling thread alone runs on from now on. False: the system does not let it.
bool pin_thread(int cpu);

// Where the calling thread may run, again as it was before at the end, in the same thread.
class KeptAffinity {
public:
    KeptAffinity() : is_known_(sched_getaffinity(0, sizeof before_, &before_) == 0) {}
    ~KeptAffinity() { give_to_this_thread(); }
    // For another thread, which began where the kept one was then.
    void give_to_this_thread() const {
        if (is_known_) sched_setaffinity(0, sizeof before_, &before_);
    }
    KeptAffinity(const KeptAffinity&) = delete;
    KeptAffinity& operator=(const KeptAffinity&) = delete;

private:
    cpu_set_t before_{};
    bool is_known_;
};

// Distance as the firmware tells it (10 = local) from the nearest of the NUMA nodes to a device's node; nothing
// where either is unknown.
std::optional<int> numa_distance(const std::vector<int>& from, int to);
// By the kernel's words in its folder of nodes, or in another that is laid out so.
std::optional<int> numa_distance_in(const std::filesystem::path& nodes, const std::vector<int>& from, int to);

} // namespace a2aperf
