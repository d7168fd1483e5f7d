// SPDX-License-Identifier: BSD-3-Clause
// Libfabric and its providers in their own words.
#pragma once

#include <rdma/fabric.h>

#include <string>

namespace a2aperf {

std::string libfabric_version(); // of the library that is loaded
std::string provider_version(const fi_info& info);
std::string describe(const fi_info& info);      // fi_tostr: every attribute
std::string endpoint_type(const fi_info& info); // RDM, MSG, DGRAM

} // namespace a2aperf
