// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/channel.hpp"

#include <algorithm>
#include <utility>

namespace a2aperf {
namespace {

constexpr std::uint64_t kFlagsKey = 1; // and two of each kind of memory

// Of a channel: those that have one domain have different ones.
std::uint64_t keys_of(const ChannelSettings& settings) {
    return 1 + 2 * settings.memories.size();
}

// Every send and every arrival of an op may complete before the queue is read.
std::size_t queue_depth(int ranks, std::size_t entries) {
    return std::max(2 * static_cast<std::size_t>(ranks), entries) + 64;
}

} // namespace

Channel::Channel(const Job& job, const Offer& offer, const ChannelSettings& settings, const TrafficClass& asked,
                 const QueueShare& share)
    : job_(job), asked_(asked), shares_queue_(share.count > 1),
      domain_(share.first != nullptr ? share.first->domain_ : std::make_shared<const Domain>(offer)),
      buffer_bytes_(settings.buffer_bytes), peers_write_((settings.rights.target & kPeersWrite) != 0),
      endpoint_(share.first != nullptr ? Endpoint(*domain_, share.first->endpoint_)
                                       : Endpoint(*domain_,
                                                  queue_depth(job.ranks(), settings.queue_entries) *
                                                      static_cast<std::size_t>(share.count),
                                                  settings.wait, settings.completions)) {
    start_times_.end(StartPhase::endpoint);
    const std::uint64_t flags_key = kFlagsKey + static_cast<std::uint64_t>(share.index) * keys_of(settings);
    std::uint64_t key = flags_key;
    for (const MemoryKind* kind : settings.memories) {
        Region send(*domain_, buffer_bytes_, *kind, settings.rights.source, ++key);
        Region receive(*domain_, buffer_bytes_ + settings.spare_bytes, *kind, settings.rights.target, ++key);
        buffers_.push_back({std::move(send), std::move(receive)});
    }
    if (settings.flags > 0)
        flags_.emplace(*domain_, settings.flags * sizeof(std::uint64_t), memory_kinds().front(), kPeersWrite,
                       flags_key);
    if (domain_->registers_with_endpoint())
        for (Region* region : regions()) region->enable(endpoint_.get());
    start_times_.end(StartPhase::memory);
    endpoint_.insert_peers(job.all_gather_text(endpoint_.address()));
    for (Buffers& of_kind : buffers_) of_kind.remotes = job.all_gather(told_of(of_kind));
    start_times_.end(StartPhase::addresses);
}

Channel::~Channel() {
    if (domain_->registers_with_endpoint())
        for (Region* region : regions()) region->close();
}

std::vector<Region*> Channel::regions() {
    std::vector<Region*> all;
    for (Buffers& of_kind : buffers_) all.insert(all.end(), {&of_kind.send, &of_kind.receive});
    if (flags_) all.push_back(&*flags_);
    return all;
}

void Channel::use(std::string_view kind) {
    const auto found =
        std::ranges::find_if(buffers_, [&](const Buffers& of_kind) { return of_kind.send.kind().name == kind; });
    used_ = found == buffers_.end() ? 0 : static_cast<std::size_t>(found - buffers_.begin());
}

RemoteBuffers Channel::told_of(const Buffers& of_kind) const {
    return {of_kind.send.remote(), of_kind.receive.remote(), flags_ ? flags_->remote() : Region::Remote{}};
}

void Channel::face(const Channel& other) {
    endpoint_.face(job_.rank(), other.endpoint_);
    for (std::size_t kind = 0; kind < buffers_.size(); ++kind)
        buffers_[kind].remotes[static_cast<std::size_t>(job_.rank())] = other.told_of(other.buffers_[kind]);
}

void Channel::face_itself() noexcept {
    endpoint_.face_itself(job_.rank());
    for (Buffers& of_kind : buffers_) of_kind.remotes[static_cast<std::size_t>(job_.rank())] = told_of(of_kind);
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
            .send_buffer = now().send.data(),
            .receive_buffer = now().receive.data(),
            .send_descriptor = now().send.descriptor(),
            .receive_descriptor = now().receive.descriptor(),
            .remote = now().remotes.data(),
            .message_size = message_size,
            .flags = flags_ ? reinterpret_cast<std::uint64_t*>(flags_->data()) : nullptr};
}

TransferContext Channel::context(const Traffic& traffic, ReceivePlaces receives, Bytes chunk) {
    message_places_ = places_of(traffic, job_.rank(), receives, chunk);
    TransferContext context = this->context(traffic.loads().largest);
    context.send_offset = message_places_.send_offset.data();
    context.receive_offset = message_places_.receive_offset.data();
    context.send_size = message_places_.send.data();
    context.receive_size = message_places_.receive.data();
    context.target_offset = message_places_.target_offset.data();
    context.source_offset = message_places_.source_offset.data();
    return context;
}

} // namespace a2aperf
