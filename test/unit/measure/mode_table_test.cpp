// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/mode_table.hpp"

#include <doctest/doctest.h>
#include <rdma/fabric.h>

using namespace a2aperf;

TEST_CASE(
    "for a duration a mode by which messages are fetched asks that words may be written, and others as ever") {
    const auto ops = mode_demands();
    const auto flows = flow_demands();
    REQUIRE(flows.size() == ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i) {
        CAPTURE(ops[i].mode);
        CHECK(flows[i].mode == ops[i].mode);
        const std::uint64_t more = ops[i].mode == "read" ? FI_WRITE | FI_REMOTE_WRITE : 0;
        CHECK((ops[i].capabilities & more) == 0);
        CHECK(flows[i].capabilities == (ops[i].capabilities | more));
    }
}
