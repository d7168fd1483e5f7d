// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/domain.hpp"

#include <fmt/format.h>

#include "error.hpp"

namespace a2aperf {

Domain::Domain(Offer offer) : offer_(std::move(offer)) {
    fid_fabric* fabric = nullptr;
    check_fabric(fi_fabric(offer_.info().fabric_attr, &fabric, nullptr),
                 fmt::format("fi_fabric of {}", offer_.provider()));
    fabric_.reset(fabric);
    fid_domain* domain = nullptr;
    check_fabric(
        fi_domain(fabric_.get(), &offer_.info(), &domain, nullptr),
        fmt::format("fi_domain {} of {}", offer_.domain(), offer_.provider()),
        "for psm2 and opx: ranks x endpoints must fit nfreectxts in /sys/class/infiniband/hfi1_*; keep MPI "
        "off the fabric with OMPI_MCA_pml=ob1");
    domain_.reset(domain);
}

} // namespace a2aperf
