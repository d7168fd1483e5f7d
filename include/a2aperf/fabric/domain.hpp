// SPDX-License-Identifier: BSD-3-Clause
// One opened fabric and domain of a provider.
#pragma once

#include <rdma/fi_domain.h>

#include <string>

#include "a2aperf/base/units.hpp"
#include "a2aperf/fabric/fid.hpp"

namespace a2aperf {

// The largest write whose bytes are at the target before those of a write that is posted behind it; 0 = none.
Bytes largest_ordered_write(const fi_info& info);

class Domain {
public:
    // Throws std::system_error in libfabric's category, with the way out where it is known.
    explicit Domain(InfoPtr info);

    const fi_info& info() const { return *info_; }
    fid_fabric* fabric() const { return fabric_.get(); }
    fid_domain* get() const { return domain_.get(); }

    std::string provider() const { return info_->fabric_attr->prov_name; } // full: "tcp;ofi_rxm"
    std::string name() const { return info_->domain_attr->name; }
    Bytes inject_size() const { return info_->tx_attr->inject_size; }
    bool needs(std::uint64_t mr_mode) const {
        return (static_cast<std::uint64_t>(info_->domain_attr->mr_mode) & mr_mode) != 0;
    }
    Bytes ordered_write() const { return largest_ordered_write(*info_); }
    // A write with remote data consumes a posted receive at its target.
    bool consumes_receive() const { return ((info_->mode | info_->rx_attr->mode) & FI_RX_CQ_DATA) != 0; }

private:
    InfoPtr info_;
    FidPtr<fid_fabric> fabric_;
    FidPtr<fid_domain> domain_;
};

} // namespace a2aperf
