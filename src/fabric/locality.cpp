// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/locality.hpp"

#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>

#include <fmt/format.h>

namespace a2aperf {
namespace {

struct TopologyCloser {
    void operator()(hwloc_topology_t topology) const noexcept { hwloc_topology_destroy(topology); }
};
using TopologyPtr = std::unique_ptr<hwloc_topology, TopologyCloser>;

struct BitmapCloser {
    void operator()(hwloc_bitmap_t bitmap) const noexcept { hwloc_bitmap_free(bitmap); }
};
using BitmapPtr = std::unique_ptr<hwloc_bitmap_s, BitmapCloser>;

TopologyPtr load_topology() {
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0) return nullptr;
    TopologyPtr owner(topology);
    if (hwloc_topology_load(topology) != 0) return nullptr;
    return owner;
}

std::vector<int> objects_within(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_const_cpuset_t cpus) {
    std::vector<int> numbers;
    const int count = hwloc_get_nbobjs_by_type(topology, type);
    for (int i = 0; i < count; ++i) {
        const hwloc_obj_t object = hwloc_get_obj_by_type(topology, type, static_cast<unsigned>(i));
        if (hwloc_bitmap_intersects(object->cpuset, cpus) != 0)
            numbers.push_back(
                static_cast<int>(type == HWLOC_OBJ_NUMANODE ? object->os_index : object->logical_index));
    }
    return numbers;
}

} // namespace

Locality this_locality() {
    Locality here;
    const TopologyPtr topology = load_topology();
    const BitmapPtr cpus(hwloc_bitmap_alloc());
    if (topology == nullptr || hwloc_get_cpubind(topology.get(), cpus.get(), HWLOC_CPUBIND_PROCESS) != 0)
        return here;
    here.cores = objects_within(topology.get(), HWLOC_OBJ_CORE, cpus.get());
    // Some virtual machines show no cores, only processing units.
    const auto kind = here.cores.empty() ? HWLOC_OBJ_PU : HWLOC_OBJ_CORE;
    if (here.cores.empty()) here.cores = objects_within(topology.get(), kind, cpus.get());
    here.machine_cores = hwloc_get_nbobjs_by_type(topology.get(), kind);
    here.numa_nodes = objects_within(topology.get(), HWLOC_OBJ_NUMANODE, cpus.get());
    here.machine_numa_nodes = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_NUMANODE);
    char* text = nullptr;
    if (hwloc_bitmap_list_asprintf(&text, cpus.get()) > 0) here.cpu_list = text;
    std::free(text);
    return here;
}

std::vector<int> cpus_of_cores() {
    std::vector<int> cpus;
    const TopologyPtr topology = load_topology();
    const BitmapPtr allowed(hwloc_bitmap_alloc());
    const BitmapPtr of_core(hwloc_bitmap_alloc());
    if (topology == nullptr || hwloc_get_cpubind(topology.get(), allowed.get(), HWLOC_CPUBIND_PROCESS) != 0)
        return cpus;
    const bool has_cores = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE) > 0;
    const auto kind = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    for (int i = 0; i < hwloc_get_nbobjs_by_type(topology.get(), kind); ++i) {
        const hwloc_obj_t core = hwloc_get_obj_by_type(topology.get(), kind, static_cast<unsigned>(i));
        hwloc_bitmap_and(of_core.get(), core->cpuset, allowed.get());
        if (const int first = hwloc_bitmap_first(of_core.get()); first >= 0) cpus.push_back(first);
    }
    return cpus;
}

bool pin_thread(int cpu) {
    cpu_set_t alone;
    CPU_ZERO(&alone);
    if (cpu < 0 || cpu >= CPU_SETSIZE) return false;
    CPU_SET(cpu, &alone);
    return sched_setaffinity(0, sizeof alone, &alone) == 0;
}

std::optional<int> numa_distance(const std::vector<int>& from, int to) {
    return numa_distance_in("/sys/devices/system/node", from, to);
}

std::optional<int> numa_distance_in(const std::filesystem::path& nodes, const std::vector<int>& from, int to) {
    if (to < 0) return std::nullopt;
    std::ifstream file(nodes / fmt::format("node{}", to) / "distance");
    std::vector<int> distances;
    for (int distance = 0; file >> distance;) distances.push_back(distance);
    std::string list;
    std::ifstream(nodes / "online") >> list;
    const BitmapPtr online(hwloc_bitmap_alloc());
    if (list.empty() || hwloc_bitmap_list_sscanf(online.get(), list.c_str()) != 0) return std::nullopt;
    std::optional<int> nearest;
    std::size_t place = 0; // a number for each node that is online, in their order
    for (int node = hwloc_bitmap_first(online.get()); node >= 0 && place < distances.size();
         node = hwloc_bitmap_next(online.get(), node), ++place)
        if (std::ranges::find(from, node) != from.end())
            nearest = std::min(nearest.value_or(distances[place]), distances[place]);
    return nearest;
}

} // namespace a2aperf
