// SPDX-License-Identifier: BSD-3-Clause
// A way from this rank into the fabric. It owns what goes with one endpoint: its domain with the info that names
// adapter and traffic class, the registered buffers and flags with their keys, the endpoint with its queue, and
// what all ranks told of theirs. Several may have one domain and one queue between them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "a2aperf/fabric/domain.hpp"
#include "a2aperf/fabric/endpoint.hpp"
#include "a2aperf/fabric/nic.hpp"
#include "a2aperf/fabric/region.hpp"
#include "a2aperf/job/job.hpp"
#include "a2aperf/plan/traffic.hpp"
#include "a2aperf/plan/traffic_class.hpp"
#include "a2aperf/result/start_times.hpp"
#include "a2aperf/transfer/context.hpp"
#include "a2aperf/transfer/mode.hpp"

namespace a2aperf {

class Channel;

struct ChannelSettings {
    std::size_t buffer_bytes = 0; // each of the two message buffers
    std::size_t spare_bytes = 0;  // behind the receive buffer, for messages that should not come
    std::vector<const MemoryKind*> memories{&memory_kinds().front()}; // two such buffers of each
    Wait wait = Wait::none;
    std::size_t queue_entries = 0; // where those for a message to and from each rank are not enough
    Rights rights{};               // that the modes ask for: to the send buffer as a source, to the receive buffer
    Completions completions = Completions::all; // of sends
    std::size_t flags = 0;                      // words that peers write and this rank polls: see flag_words()
    std::vector<TrafficClass> classes{};        // of the n-th channel of a rank; none beyond
};

// Of the channels of a rank that have one queue and one domain between them.
struct QueueShare {
    const Channel* first = nullptr; // whose they are; null: its own
    int index = 0;
    int count = 1;
};

class Channel {
public:
    // Opens everything and exchanges addresses and keys with all ranks; messages lie in the first kind of memory.
    Channel(const Job& job, const Offer& offer, const ChannelSettings& settings, const TrafficClass& asked = {},
            const QueueShare& share = {});
    ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    const Domain& domain() const { return *domain_; }
    bool shares_queue() const { return shares_queue_; } // with other channels of its rank
    const Endpoint& endpoint() const { return endpoint_; }
    const StartTimes& start_times() const { return start_times_; } // of opening it
    NicFacts adapter() const { return nic_of(domain_->offer()); }
    const TrafficClass& traffic_class() const { return asked_; } // that was asked for
    // Nothing until its connections are open; then whether they were given the class as they were opened.
    const std::optional<bool>& connected_as_asked() const { return connected_as_asked_; }
    // Why they were not, where nothing else says it.
    const std::string& connection_trouble() const { return connection_trouble_; }
    void set_connected(bool as_asked, std::string trouble = {}) {
        connected_as_asked_ = as_asked;
        connection_trouble_ = std::move(trouble);
    }
    // From now on messages lie in that kind, on all ranks alike; empty: the first. While nothing is under way.
    void use(std::string_view kind);
    const MemoryKind& memory() const { return now().send.kind(); } // of the messages
    std::byte* send_buffer() const { return now().send.data(); }
    std::byte* receive_buffer() const { return now().receive.data(); }
    std::byte* spare() const { return now().receive.data() + buffer_bytes_; }
    void* receive_descriptor() const { return now().receive.descriptor(); }
    const Region& send_region() const { return now().send; }
    bool peers_write() const { return peers_write_; } // into the receive buffer
    const RemoteBuffers& remote(Rank peer) const { return now().remotes[static_cast<std::size_t>(peer)]; }

    // From now on what this rank sends itself over this channel goes to the other one's endpoint and buffers, until
    // it faces itself again. Always the same other; while nothing is under way.
    void face(const Channel& other);
    void face_itself() noexcept;

    // Message slots of this size that fit each buffer, at most R.
    int slots(Bytes message_size) const;
    // Lays the buffers out for a message size; the context is valid until the next call.
    TransferContext context(Bytes message_size);
    // The same for the messages of traffic that is not uniform; each has a place of its own, with
    // room for a whole number of chunks.
    TransferContext context(const Traffic& traffic, ReceivePlaces receives, Bytes chunk = 1);

private:
    // Of one kind of memory.
    struct Buffers {
        Region send, receive;
        std::vector<RemoteBuffers> remotes{}; // [R]
    };
    RemoteBuffers told_of(const Buffers& of_kind) const;
    const Buffers& now() const { return buffers_[used_]; }
    std::vector<Region*> regions();

    const Job& job_;
    TrafficClass asked_;
    std::optional<bool> connected_as_asked_;
    std::string connection_trouble_;
    StartTimes start_times_; // begins before what follows
    // Destruction runs from the end: endpoint, regions, domain.
    bool shares_queue_;
    std::shared_ptr<const Domain> domain_;
    std::size_t buffer_bytes_;
    bool peers_write_;
    std::vector<Buffers> buffers_;
    std::size_t used_ = 0;
    std::optional<Region> flags_;
    Endpoint endpoint_;
    std::vector<std::size_t> send_offset_, receive_offset_; // [R]
    MessagePlaces message_places_;
};

} // namespace a2aperf
