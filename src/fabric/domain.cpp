// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/domain.hpp"

#include <fmt/format.h>

#include "a2aperf/fabric/error.hpp"

namespace a2aperf {

Bytes largest_ordered_write(const fi_info& info) {
    const std::uint64_t both = info.tx_attr->msg_order & info.rx_attr->msg_order;
    return (both & FI_ORDER_WAW) != 0 ? info.ep_attr->max_order_waw_size : 0;
}

Domain::Domain(InfoPtr info) : info_(std::move(info)) {
    fid_fabric* fabric = nullptr;
    check_fabric(fi_fabric(info_->fabric_attr, &fabric, nullptr), fmt::format("fi_fabric of {}", provider()));
    fabric_.reset(fabric);
    fid_domain* domain = nullptr;
    check_fabric(
        fi_domain(fabric_.get(), info_.get(), &domain, nullptr),
        fmt::format("fi_domain {} of {}", name(), provider()),
        "for psm2 and opx: ranks x endpoints must fit nfreectxts in /sys/class/infiniband/hfi1_*; keep MPI "
        "off the fabric with OMPI_MCA_pml=ob1");
    domain_.reset(domain);
}

} // namespace a2aperf
