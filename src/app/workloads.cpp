// SPDX-License-Identifier: BSD-3-Clause
// A row for every workload.
#include <algorithm>
#include <array>

#include "workload.hpp"

namespace a2aperf {

const Workload& workload_of(const Options& options) {
    static const std::array rows{&alltoall(), &pairs()};
    return **std::find_if(rows.begin(), rows.end(),
                          [&](const Workload* row) { return row->name() == to_string(options.command); });
}

} // namespace a2aperf
