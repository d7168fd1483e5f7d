// SPDX-License-Identifier: BSD-3-Clause
// One way into the fabric that libfabric offers: a provider with a domain and what it can do there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "a2aperf/base/units.hpp"
#include "a2aperf/fabric/fid.hpp"

namespace a2aperf {

class Offer {
public:
    explicit Offer(InfoPtr info) : info_(std::move(info)) {}
    Offer(const Offer& other);
    Offer(Offer&&) = default;
    Offer& operator=(Offer&&) = default;

    std::string provider() const; // full: "tcp;ofi_rxm"
    std::string provider_version() const;
    std::string domain() const;
    std::string endpoint_type() const; // RDM, MSG, DGRAM
    std::string attributes() const;    // fi_tostr: every one
    Bytes inject_size() const;
    Bytes largest_message() const;
    // The largest write whose bytes are at the target before those of a write that is posted behind it; 0 = none.
    Bytes ordered_write() const;

    // A write that carries data takes a posted receive at its target.
    bool consumes_receive() const;

    std::size_t endpoints() const;     // of the adapter; 0 = unknown
    std::size_t receive_queue() const; // receives that are certain to find room

    // Whether receives take one sender's messages in the order in which they were sent, and complete in the order
    // in which messages came.
    bool matches_in_order() const;
    bool completes_in_order() const;

    // Of the messages of its endpoints (fi_tx_attr.tclass).
    void set_traffic_class(std::uint32_t traffic_class);

    fi_info& info() const { return *info_; } // for libfabric's calls, which take no const

private:
    InfoPtr info_;
};

} // namespace a2aperf
