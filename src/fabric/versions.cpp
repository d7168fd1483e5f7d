// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/versions.hpp"

#include <rdma/fi_endpoint.h>

#include <string_view>

#include <fmt/format.h>

namespace a2aperf {

std::string libfabric_version() {
    return fi_tostr("", FI_TYPE_VERSION);
}

std::string provider_version(const fi_info& info) {
    const auto version = info.fabric_attr->prov_version;
    return fmt::format("{}.{}", FI_MAJOR(version), FI_MINOR(version));
}

std::string endpoint_type(const fi_info& info) {
    const std::string text = fi_tostr(&info.ep_attr->type, FI_TYPE_EP_TYPE); // "FI_EP_RDM"
    constexpr std::string_view kPrefix = "FI_EP_";
    return text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text;
}

std::string describe(const fi_info& info) {
    return fi_tostr(&info, FI_TYPE_INFO);
}

} // namespace a2aperf
