// SPDX-License-Identifier: BSD-3-Clause
// A catalogue for tests that have no fabric; the workloads are the program's.
#pragma once

#include "a2aperf/config/option_table.hpp"
#include "app/workload.hpp"

namespace a2aperf::test {

inline Catalogue catalogue() {
    return {{"shm", "tcp", "net", "udp", "psm2", "verbs"},
            {"tagged", "msg", "write-imm", "read", "write"},
            {"default", "huge"},
            workload_rows()};
}

// A row that is there.
inline const OptionRow& find(std::string_view name) {
    return *find_option(name, catalogue());
}

} // namespace a2aperf::test
