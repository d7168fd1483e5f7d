// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/window.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace a2aperf {
namespace {

constexpr std::pair<std::string_view, Bytes> kSizeUnits[] = {{"KiB", Bytes{1} << 10U},
                                                             {"MiB", Bytes{1} << 20U},
                                                             {"GiB", Bytes{1} << 30U},
                                                             {"TiB", Bytes{1} << 40U},
                                                             {"kB", 1'000},
                                                             {"MB", 1'000'000},
                                                             {"GB", 1'000'000'000},
                                                             {"TB", 1'000'000'000'000}};

} // namespace

int Window::of(Bytes message_size) const {
    constexpr Bytes kMost = 1'000'000; // no rank has more peers
    if (bytes == 0) return messages;
    return static_cast<int>(std::clamp<Bytes>(bytes / std::max<Bytes>(message_size, 1), 1, kMost));
}

std::string Window::text() const {
    if (bytes == 0) return messages == 0 ? "all" : fmt::to_string(messages);
    Bytes least = bytes; // in the unit that makes the smallest whole number of it
    std::string_view of = "B";
    for (const auto& [name, size] : kSizeUnits)
        if (bytes % size == 0 && bytes / size < least) {
            least = bytes / size;
            of = name;
        }
    return fmt::format("{}{}", least, of);
}

} // namespace a2aperf
