// SPDX-License-Identifier: BSD-3-Clause
#include "counter_table.hpp"

#include <algorithm>

namespace a2aperf {

h5::Block plane(int point, std::uint64_t rows, std::uint64_t columns) {
    return {{std::uint64_t(point), 0, 0}, {1, rows, columns}};
}

std::vector<std::int64_t> ports_of(std::span<const NodeCounters> nodes, std::uint64_t count,
                                   const std::vector<std::string>& names, const std::vector<std::string>& order) {
    std::vector<std::int64_t> ports(count * order.size(), -1);
    for (std::size_t c = 0; c < names.size(); ++c) {
        const auto found = std::find(order.begin(), order.end(), names[c]);
        if (found == order.end()) continue;
        const auto column = static_cast<std::size_t>(found - order.begin());
        for (std::size_t n = 0; n < nodes.size(); ++n)
            if (c < nodes[n].ports.size()) ports[n * order.size() + column] = nodes[n].ports[c];
    }
    return ports;
}

} // namespace a2aperf
