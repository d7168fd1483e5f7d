// SPDX-License-Identifier: BSD-3-Clause
// How fast a CPU runs at the moment, as the kernel tells it.
#pragma once

#include <cstdint>
#include <string>

namespace a2aperf {

// cpufreq's word, else what /proc/cpuinfo says; -1 where neither says anything. Of the caller's own CPU this takes
// some microseconds where there is cpufreq; of others the kernel may wait for them. root: where /sys and /proc are.
std::int64_t cpu_frequency_khz(int cpu, const std::string& root = "");

} // namespace a2aperf
