// SPDX-License-Identifier: BSD-3-Clause
// What a provider says of its queues, limits and ways, and of the adapter as it sees it.
#pragma once

#include <vector>

#include "a2aperf/fabric/detail.hpp"
#include "a2aperf/fabric/offer.hpp"

namespace a2aperf {

std::vector<Detail> offer_details(const Offer& offer);

} // namespace a2aperf
