// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/config/workload_row.hpp"

namespace a2aperf {

Options default_options(const WorkloadRow& workload) {
    Options options;
    options.workload = workload.name;
    options.schedules = {&find_schedule("shift")};
    workload.set_defaults(options);
    return options;
}

} // namespace a2aperf
