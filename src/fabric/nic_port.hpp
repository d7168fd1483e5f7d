// SPDX-License-Identifier: BSD-3-Clause
// The port of an adapter that an offer uses.
#pragma once

#include <string>

#include "a2aperf/fabric/offer.hpp"

namespace a2aperf {

// "1": of an RDMA device the port whose network interface has the offer's address; of another interface "1", since
// it is the port. Empty where the address belongs to no interface of the device.
std::string port_of(const Offer& offer, const std::string& device);

} // namespace a2aperf
