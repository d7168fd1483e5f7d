// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/offer.hpp"

#include <rdma/fi_endpoint.h>

#include <new>
#include <string_view>

#include <fmt/format.h>

namespace a2aperf {

Offer::Offer(const Offer& other) : info_(fi_dupinfo(other.info_.get())) {
    if (info_ == nullptr) throw std::bad_alloc();
}

void Offer::set_traffic_class(std::uint32_t traffic_class) {
    info_->tx_attr->tclass = traffic_class;
    info_->domain_attr->tclass = traffic_class;
}

std::string Offer::provider() const {
    return info_->fabric_attr->prov_name;
}

std::string Offer::provider_version() const {
    const auto version = info_->fabric_attr->prov_version;
    return fmt::format("{}.{}", FI_MAJOR(version), FI_MINOR(version));
}

std::string Offer::domain() const {
    return info_->domain_attr->name != nullptr ? info_->domain_attr->name : "";
}

std::string Offer::endpoint_type() const {
    const std::string text = fi_tostr(&info_->ep_attr->type, FI_TYPE_EP_TYPE); // "FI_EP_RDM"
    constexpr std::string_view kPrefix = "FI_EP_";
    return text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text;
}

std::string Offer::attributes() const {
    return fi_tostr(info_.get(), FI_TYPE_INFO);
}

Bytes Offer::inject_size() const {
    return info_->tx_attr->inject_size;
}

Bytes Offer::largest_message() const {
    return info_->ep_attr->max_msg_size;
}

Bytes Offer::ordered_write() const {
    const std::uint64_t both = info_->tx_attr->msg_order & info_->rx_attr->msg_order;
    return (both & FI_ORDER_WAW) != 0 ? info_->ep_attr->max_order_waw_size : 0;
}

bool Offer::consumes_receive() const {
    return ((info_->mode | info_->rx_attr->mode) & FI_RX_CQ_DATA) != 0;
}

std::size_t Offer::endpoints() const {
    return info().domain_attr->ep_cnt;
}

std::size_t Offer::receive_queue() const {
    return info_->rx_attr->size;
}

bool Offer::matches_in_order() const {
    return (info_->tx_attr->msg_order & info_->rx_attr->msg_order & FI_ORDER_SAS) != 0;
}

bool Offer::completes_in_order() const {
    return (info_->rx_attr->comp_order & FI_ORDER_STRICT) == FI_ORDER_STRICT;
}

} // namespace a2aperf
