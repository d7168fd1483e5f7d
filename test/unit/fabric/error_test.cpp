// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/error.hpp"

#include <rdma/fi_errno.h>

#include <string>

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("success and counts are no errors") {
    CHECK_NOTHROW(check_fabric(0, "fi_enable"));
    CHECK_NOTHROW(check_fabric(17, "fi_av_insert"));
}

TEST_CASE("a failure names the call, libfabric's words and the way out") {
    try {
        check_fabric(-FI_EBUSY, "fi_domain", "keep MPI off the fabric");
        FAIL("it did not throw");
    } catch (const std::system_error& error) {
        CHECK(error.code().value() == FI_EBUSY);
        CHECK(&error.code().category() == &fabric_category());
        const std::string text = error.what();
        CHECK(text.find("fi_domain") != std::string::npos);
        CHECK(text.find("keep MPI off the fabric") != std::string::npos);
        CHECK(text.find("busy") != std::string::npos);
    }
}
