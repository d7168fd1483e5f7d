// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/host_state.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "a2aperf/base/text_file.hpp"
#include "a2aperf/base/units.hpp"

namespace a2aperf {
namespace {

namespace fs = std::filesystem;

// In MHz, of every CPU that tells it: cpufreq's word in kHz, else what /proc/cpuinfo says.
std::vector<double> cpu_frequencies(const std::string& root) {
    std::vector<double> found;
    std::error_code ignored;
    for (const auto& cpu : fs::directory_iterator(root + "/sys/devices/system/cpu", ignored)) {
        const std::string khz = first_line(cpu.path() / "cpufreq/scaling_cur_freq");
        if (!khz.empty()) found.push_back(std::strtod(khz.c_str(), nullptr) / 1e3);
    }
    if (!found.empty()) return found;
    std::ifstream file(root + "/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (const auto colon = line.find(':'); line.starts_with("cpu MHz") && colon != std::string::npos)
            found.push_back(std::strtod(line.c_str() + colon + 1, nullptr));
    return found;
}

std::string cpu_frequency(const std::string& root) {
    const std::vector<double> found = cpu_frequencies(root);
    if (found.empty()) return {};
    const auto [low, high] = std::minmax_element(found.begin(), found.end());
    return fmt::format("{:.0f} to {:.0f} MHz, {}", *low, *high, counted(std::ssize(found), "CPU"));
}

bool runs(std::string_view program, const std::string& root) {
    std::error_code ignored;
    for (const auto& process : fs::directory_iterator(root + "/proc", ignored))
        if (std::isdigit(static_cast<unsigned char>(process.path().filename().string().front())) != 0 &&
            first_line(process.path() / "comm") == program)
            return true;
    return false;
}

std::string memlock() {
    rlimit limit{};
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return {};
    return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : format_bytes(limit.rlim_cur);
}

} // namespace

std::vector<Detail> host_state(const std::string& root) {
    return {{"CPU frequency", cpu_frequency(root)},
            {"governor", first_line(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
             "the kernel does not set the frequency here"},
            {"memlock", memlock()},
            {"irqbalance", runs("irqbalance", root) ? "runs" : "is not seen among the processes"}};
}

} // namespace a2aperf
