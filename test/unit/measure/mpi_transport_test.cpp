// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/mpi_transport.hpp"

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("a baseline over another network is called that") {
    const auto with = [](const char* pml, const char* btl, const char* provider, bool spans_hosts) {
        setenv("OMPI_MCA_pml", pml, 1);
        setenv("OMPI_MCA_btl", btl, 1);
        return baseline_transport(provider, spans_hosts);
    };
    CHECK(with("ob1", "self,vader,tcp", "shm", false).find("different network") == std::string::npos);
    CHECK(with("ob1", "self,vader,tcp", "tcp;ofi_rxm", false).find("different network") != std::string::npos);
    CHECK(with("ob1", "self,tcp", "tcp;ofi_rxm", true).find("different network") == std::string::npos);
    CHECK(with("ob1", "self,tcp", "psm2", true).find("a different network from psm2's Omni-Path") !=
          std::string::npos);
    CHECK(with("ob1", "^openib", "tcp", true).find("own choice") != std::string::npos);
    setenv("OMPI_MCA_mtl_ofi_provider_include", "tcp;ofi_rxm", 1);
    CHECK(with("cm", "", "tcp", true).starts_with("TCP ("));
    for (const char* name : {"OMPI_MCA_pml", "OMPI_MCA_btl", "OMPI_MCA_mtl_ofi_provider_include"}) unsetenv(name);
}

TEST_CASE("MPI keeps off libfabric only where it was told so") {
    const auto with = [](const char* pml, const char* btl) {
        setenv("OMPI_MCA_pml", pml, 1);
        setenv("OMPI_MCA_btl", btl, 1);
        return mpi_uses_libfabric();
    };
    CHECK_FALSE(with("ob1", "self,vader,tcp"));
    CHECK(with("ob1", ""));
    CHECK(with("ob1", "self,ofi"));
    CHECK(with("cm", "self,tcp"));
    for (const char* name : {"OMPI_MCA_pml", "OMPI_MCA_btl"}) unsetenv(name);
}
