// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/op_names.hpp"

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("an op has the number that it has in its point, whatever came before it in the launch") {
    OpNames names;
    CHECK(names.of(1) == "op 0");
    names.begin(OpKind::verification, 100, 0);
    CHECK(names.of(100) == "verification op 0");
    names.begin(OpKind::warmup, 101, 0);
    CHECK(names.of(103) == "warm-up op 2");
    names.begin(OpKind::timed, 104, 0);
    CHECK(names.of(104) == "op 0");
    CHECK(names.of(113) == "op 9");
    names.begin(OpKind::baseline, 114, 0);
    CHECK(names.of(115) == "MPI op 1");
    names.begin(OpKind::timed, 124, 10); // its next block
    CHECK(names.of(124) == "op 10");
    CHECK(names.of(131) == "op 17");
    CHECK(names.of(123) == "an earlier op");
    names.begin(OpKind::trial, 1, 0);
    CHECK(names.of(6) == "trial op 5");
}
