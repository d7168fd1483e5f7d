// SPDX-License-Identifier: BSD-3-Clause
#include "cpu_frequency.hpp"

#include <cmath>
#include <fstream>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "a2aperf/base/text_file.hpp"

namespace a2aperf {
namespace {

// What stands behind the colon; nothing where there is no number.
double number_of(const std::string& line) {
    double value = -1;
    const auto colon = line.find(':');
    if (colon != std::string::npos) std::istringstream(line.substr(colon + 1)) >> value;
    return value;
}

std::int64_t of_cpuinfo(int cpu, const std::string& root) {
    std::ifstream file(root + "/proc/cpuinfo");
    bool is_it = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("processor")) is_it = number_of(line) == cpu;
        if (!is_it || !line.starts_with("cpu MHz")) continue;
        const double mhz = number_of(line);
        return mhz > 0 ? std::llround(mhz * 1e3) : -1;
    }
    return -1;
}

} // namespace

std::int64_t cpu_frequency_khz(int cpu, const std::string& root) {
    std::int64_t khz = -1;
    std::istringstream said(
        first_line(fmt::format("{}/sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", root, cpu)));
    if (said >> khz && khz > 0) return khz;
    return of_cpuinfo(cpu, root);
}

} // namespace a2aperf
