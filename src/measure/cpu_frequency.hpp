// SPDX-License-Identifier: BSD-3-Clause
// How fast a CPU runs at the moment, as the kernel tells it.
#pragma once

#include <cstdint>
#include <string>

namespace a2aperf {

// cpufreq's word, else what /proc/cpuinfo says; -1 where neither says anything. This may take some
// milliseconds: kernels sleep between two looks at a CPU, or have a text of all of them. root: where /sys and /proc
// are.
std::int64_t cpu_frequency_khz(int cpu, const std::string& root = "");

} // namespace a2aperf
