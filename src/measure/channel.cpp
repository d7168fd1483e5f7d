// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/channel.hpp"

#include <algorithm>

namespace a2aperf {
namespace {

constexpr std::uint64_t kSendKey = 1;
constexpr std::uint64_t kReceiveKey = 2;
constexpr std::uint64_t kFlagsKey = 3;

// Every send and every arrival of an op may complete before the queue is read.
std::size_t queue_depth(int ranks, std::size_t entries) {
    return std::max(2 * static_cast<std::size_t>(ranks), entries) + 64;
}

} // namespace

Channel::Channel(const Job& job, const Offer& offer, const ChannelSettings& settings)
    : job_(job), domain_(offer), buffer_bytes_(settings.buffer_bytes),
      peers_write_((settings.rights.target & kPeersWrite) != 0),
      send_(domain_, buffer_bytes_, settings.memory, settings.rights.source, kSendKey),
      receive_(domain_, buffer_bytes_ + settings.spare_bytes, settings.memory, settings.rights.target, kReceiveKey),
      endpoint_(domain_, queue_depth(job.ranks(), settings.queue_entries), settings.wait, settings.completions) {
    if (settings.flags > 0)
        flags_.emplace(domain_, settings.flags * sizeof(std::uint64_t), memory_kinds().front(), kPeersWrite,
                       kFlagsKey);
    if (domain_.registers_with_endpoint())
        for (Region* region : regions()) region->enable(endpoint_.get());
    endpoint_.insert_peers(job.all_gather_text(endpoint_.address()));
    remotes_ = job.all_gather(
        RemoteBuffers{send_.remote(), receive_.remote(), flags_ ? flags_->remote() : Region::Remote{}});
}

Channel::~Channel() {
    if (domain_.registers_with_endpoint())
        for (Region* region : regions()) region->close();
}

std::vector<Region*> Channel::regions() {
    std::vector<Region*> all{&send_, &receive_};
    if (flags_) all.push_back(&*flags_);
    return all;
}

int Channel::slots(Bytes message_size) const {
    if (message_size == 0) return job_.ranks();
    return static_cast<int>(std::min<Bytes>(buffer_bytes_ / message_size, static_cast<Bytes>(job_.ranks())));
}

TransferContext Channel::context(Bytes message_size) {
    const int ranks = job_.ranks();
    const int places = slots(message_size);
    send_offset_.resize(static_cast<std::size_t>(ranks));
    receive_offset_.resize(static_cast<std::size_t>(ranks));
    for (Rank peer = 0; peer < ranks; ++peer) {
        const int ahead = (peer - job_.rank() + ranks) % ranks;
        const int behind = (job_.rank() - peer + ranks) % ranks;
        send_offset_[static_cast<std::size_t>(peer)] = static_cast<std::size_t>(ahead % places) * message_size;
        receive_offset_[static_cast<std::size_t>(peer)] = static_cast<std::size_t>(behind % places) * message_size;
    }
    return {.endpoint = endpoint_.get(),
            .self = job_.rank(),
            .ranks = ranks,
            .peers = endpoint_.peers().data(),
            .send_offset = send_offset_.data(),
            .receive_offset = receive_offset_.data(),
            .send_buffer = send_.data(),
            .receive_buffer = receive_.data(),
            .send_descriptor = send_.descriptor(),
            .receive_descriptor = receive_.descriptor(),
            .remote = remotes_.data(),
            .message_size = message_size,
            .flags = flags_ ? reinterpret_cast<std::uint64_t*>(flags_->data()) : nullptr};
}

} // namespace a2aperf
