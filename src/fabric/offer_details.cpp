// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/offer_details.hpp"

#include <fmt/format.h>

namespace a2aperf {
namespace {

std::string words(const void* value, fi_type type) {
    return fi_tostr(value, type);
}

std::string text_or_unknown(const char* text) {
    return text != nullptr ? text : "";
}

void add_adapter(const fid_nic& nic, std::vector<Detail>& details) {
    if (const fi_device_attr* device = nic.device_attr; device != nullptr) {
        details.push_back({"vendor", text_or_unknown(device->vendor_id)});
        details.push_back({"device", text_or_unknown(device->device_id)});
        details.push_back({"device version", text_or_unknown(device->device_version)});
        details.push_back({"device firmware", text_or_unknown(device->firmware)});
    }
    if (const fi_link_attr* link = nic.link_attr; link != nullptr) {
        details.push_back({"link address", text_or_unknown(link->address)});
        details.push_back({"network", text_or_unknown(link->network_type)});
        details.push_back({"link state", link->state == FI_LINK_UP     ? "up"
                                         : link->state == FI_LINK_DOWN ? "down"
                                                                       : ""});
        details.push_back({"link MTU", link->mtu > 0 ? fmt::format("{} B", link->mtu) : ""});
    }
}

} // namespace

std::vector<Detail> offer_details(const Offer& offer) {
    const fi_info& info = offer.info();
    const fi_tx_attr& sends = *info.tx_attr;
    const fi_rx_attr& receives = *info.rx_attr;
    const fi_domain_attr& domain = *info.domain_attr;
    std::vector<Detail> details{
        {"version", offer.provider_version()},
        {"send queue", fmt::format("{}", sends.size)},
        {"receive queue", fmt::format("{}", receives.size)},
        {"parts of a message", fmt::format("{} sent, {} received", sends.iov_limit, receives.iov_limit)},
        {"inject", fmt::format("{} B", sends.inject_size)},
        {"writes in order", offer.ordered_write() >= (Bytes{1} << 62) ? "any"
                            : offer.ordered_write() == 0              ? "none"
                                                         : fmt::format("of up to {} B", offer.ordered_write())},
        {"messages of one sender", offer.matches_in_order() ? "in order" : "in any order"},
        {"completions", offer.completes_in_order() ? "in order" : "in any order"},
        {"completion queues", fmt::format("{}", domain.cq_cnt)},
        {"endpoints", fmt::format("{}", domain.ep_cnt)},
        {"data with a message", fmt::format("{} B", domain.cq_data_size)},
        {"memory regions need", domain.mr_mode == 0 ? "nothing" : words(&domain.mr_mode, FI_TYPE_MR_MODE)},
        {"threading", words(&domain.threading, FI_TYPE_THREADING)},
        {"progress of data", words(&domain.data_progress, FI_TYPE_PROGRESS)},
    };
    if (info.nic != nullptr) add_adapter(*info.nic, details);
    return details;
}

} // namespace a2aperf
