// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/environment.hpp"

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("variables that decide results must agree, those of launchers may differ") {
    for (const char* name : {"PSM2_RCVTHREAD", "PSM3_NIC", "HFI_UNIT", "FI_UNIVERSE_SIZE", "UCX_TLS"})
        CHECK(family_of(name) == Family::must_agree);
    for (const char* name : {"OMPI_MCA_pml", "SLURM_PROCID", "SLURM_JOB_ID"})
        CHECK(family_of(name) == Family::may_differ);
    for (const char* name : {"PATH", "HOME", "XFI_NOT", "MY_PSM2_"}) CHECK(family_of(name) == Family::none);
}

TEST_CASE("nothing that looks like a credential is ever taken") {
    for (const char* name : {"SLURM_JWT", "SLURM_AUTH_TOKEN", "UCX_SECRET", "FI_PASSWORD", "OMPI_MCA_orte_hnp_uri",
                             "FI_api_key", "OMPI_session_cookie"})
        CHECK(family_of(name) == Family::none);
}
