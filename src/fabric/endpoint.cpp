// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/endpoint.hpp"

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>

#include <array>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/fabric/provider.hpp"
#include "a2aperf/fabric/segment.hpp"
#include "a2aperf/job/stop_signal.hpp"
#include "error.hpp"

namespace a2aperf {
namespace {

// A provider that does not take it keeps a name of its own, of which nobody can tell whose it is.
bool name_segment(const Domain& domain, fid_ep* endpoint) {
    if (!find_provider(domain.offer().provider()).names_segments) return false;
    std::string name = new_segment_name();
    return !name.empty() && fi_setname(&endpoint->fid, name.data(), name.size() + 1) == 0;
}

FidPtr<fid_cq> open_queue(const Domain& domain, std::size_t depth, Wait wait) {
    fi_cq_attr cq_attr{};
    cq_attr.size = depth;
    cq_attr.format = FI_CQ_FORMAT_DATA;
    cq_attr.wait_obj = wait == Wait::object ? FI_WAIT_UNSPEC : FI_WAIT_NONE;
    fid_cq* cq = nullptr;
    check_fabric(fi_cq_open(domain.get(), &cq_attr, &cq, nullptr), "fi_cq_open",
                 wait == Wait::object ? "this provider may not support --poll block" : "");
    return FidPtr<fid_cq>(cq);
}

} // namespace

Endpoint::Endpoint(const Domain& domain, std::size_t depth, Wait wait, Completions completions)
    : Endpoint(domain, open_queue(domain, depth, wait), completions) {}

Endpoint::Endpoint(const Domain& domain, const Endpoint& other)
    : Endpoint(domain, other.queue_, other.completions_) {}

Endpoint::Endpoint(const Domain& domain, std::shared_ptr<fid_cq> queue, Completions completions)
    : has_text_addresses_(domain.offer().info().addr_format == FI_ADDR_STR), completions_(completions),
      queue_(std::move(queue)) {
    fi_av_attr av_attr{};
    av_attr.type = FI_AV_TABLE;
    fid_av* av = nullptr;
    check_fabric(fi_av_open(domain.get(), &av_attr, &av, nullptr), "fi_av_open");
    addresses_.reset(av);

    fid_ep* endpoint = nullptr;
    check_fabric(fi_endpoint(domain.get(), &domain.offer().info(), &endpoint, nullptr), "fi_endpoint");
    endpoint_.reset(endpoint);
    check_fabric(fi_ep_bind(endpoint, &av->fid, 0), "fi_ep_bind of the address vector");
    const std::uint64_t asked = completions == Completions::asked ? FI_SELECTIVE_COMPLETION : 0;
    if (asked != 0)
        check_fabric(fi_ep_bind(endpoint, &queue_->fid, FI_TRANSMIT | asked),
                     "fi_ep_bind of a queue for those asked for");
    check_fabric(fi_ep_bind(endpoint, &queue_->fid, asked != 0 ? FI_RECV : FI_TRANSMIT | FI_RECV),
                 "fi_ep_bind of the completion queue");
    // shm's handler removes the files of all endpoints, by a list that may just be changing, while peers look for
    // them. Those that have our names we remove ourselves.
    if (name_segment(domain, endpoint)) StopSignal::reinstall();
    check_fabric(fi_enable(endpoint), "fi_enable",
                 "a queue may be larger than the device allows: lower FI_UNIVERSE_SIZE; with shm, other programs "
                 "may have left files in /dev/shm: remove those of no running process");
}

std::string Endpoint::address() const {
    std::string name(256, '\0');
    std::size_t length = name.size();
    check_fabric(fi_getname(&endpoint_->fid, name.data(), &length), "fi_getname");
    name.resize(length);
    return name;
}

void Endpoint::insert_peers(std::span<const std::string> addresses) {
    peers_.resize(addresses.size());
    peer_addresses_.assign(addresses.begin(), addresses.end());
    if (has_text_addresses_) {
        // As long as a process id is; how several are packed differs between versions.
        for (std::size_t i = 0; i < addresses.size(); ++i) insert(addresses[i], 1, &peers_[i]);
        return;
    }
    std::string all;
    for (const auto& address : addresses) all += address;
    if (addresses.empty() || all.size() != addresses.size() * addresses.front().size())
        throw std::system_error(FI_EADDRNOTAVAIL, fabric_category(), "peers' addresses differ in length");
    insert(all, addresses.size(), peers_.data());
}

void Endpoint::insert(const std::string& addresses, std::size_t count, fi_addr_t* peers) {
    const int inserted = fi_av_insert(addresses_.get(), addresses.data(), count, peers, 0, nullptr);
    check_fabric(inserted, "fi_av_insert");
    if (inserted != static_cast<int>(count))
        throw std::system_error(FI_EADDRNOTAVAIL, fabric_category(),
                                fmt::format("fi_av_insert took {} of {} peers", inserted, count));
}

void Endpoint::face(int self, const Endpoint& other) {
    fi_addr_t& here = peers_[static_cast<std::size_t>(self)];
    if (other_ == FI_ADDR_UNSPEC) {
        insert(other.address(), 1, &other_);
        own_ = here;
    }
    here = other_;
}

void Endpoint::face_itself(int self) noexcept {
    if (other_ != FI_ADDR_UNSPEC) peers_[static_cast<std::size_t>(self)] = own_;
}

CompletionError Endpoint::take_error() const {
    fi_cq_err_entry entry{};
    const auto status = fi_cq_readerr(queue_.get(), &entry, 0);
    if (status < 0) return {nullptr, static_cast<int>(-status), fi_strerror(static_cast<int>(-status))};
    std::array<char, 256> words{};
    const char* text = fi_cq_strerror(queue_.get(), entry.prov_errno, entry.err_data, words.data(), words.size());
    return {entry.op_context, entry.err,
            fmt::format("{} ({})", fi_strerror(entry.err), text != nullptr ? text : "no details")};
}

} // namespace a2aperf
