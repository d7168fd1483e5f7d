// SPDX-License-Identifier: BSD-3-Clause
// One opened fabric and domain of a provider.
#pragma once

#include <rdma/fi_domain.h>

#include <string>

#include "a2aperf/base/units.hpp"
#include "a2aperf/fabric/offer.hpp"

namespace a2aperf {

class Domain {
public:
    // Throws std::system_error in libfabric's category, with the way out where it is known.
    explicit Domain(Offer offer);

    const Offer& offer() const { return offer_; }
    fid_domain* get() const { return domain_.get(); }

    bool needs(std::uint64_t mr_mode) const {
        return (static_cast<std::uint64_t>(offer_.info().domain_attr->mr_mode) & mr_mode) != 0;
    }
    bool registers_with_endpoint() const { return needs(FI_MR_ENDPOINT); }

private:
    Offer offer_;
    FidPtr<fid_fabric> fabric_;
    FidPtr<fid_domain> domain_;
};

} // namespace a2aperf
