// SPDX-License-Identifier: BSD-3-Clause
// A catalogue for tests that have no fabric.
#pragma once

#include "a2aperf/config/catalogue.hpp"

namespace a2aperf::test {

inline Catalogue catalogue() {
    return {{"shm", "tcp", "net", "udp", "psm2", "verbs"}, {"tagged", "msg", "write-imm"}};
}

} // namespace a2aperf::test
