// SPDX-License-Identifier: BSD-3-Clause
// The channels of a rank, each with all that belongs to it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/measure/channel.hpp"
#include "a2aperf/plan/plan.hpp"

namespace a2aperf {

// Why a process cannot have so many of this provider; nothing when it can.
std::optional<std::string> channels_trouble(std::string_view provider, int count);

// Of all of a rank, those that have one queue behind the others, those over which a point is measured.
std::span<Channel* const> channels_of(std::span<Channel* const> all, const Point& point);

class Channels {
public:
    // Opens them one after another, each with a copy of the offer, those that have one queue last. Collective.
    // Throws UsageError where the provider allows a process fewer: points that need more are skipped before
    // (fabric_skip_reason()). dealt: of those with a queue each, one after the other and from the first again,
    // where they have several adapters.
    Channels(const Job& job, const Offer& offer, const ChannelSettings& settings, ChannelCounts counts = {.own = 1},
             std::span<const Offer> dealt = {});

    std::span<Channel* const> all() const { return all_; }
    // Those over which a point is measured, whose messages lie in its kind of memory.
    std::span<Channel* const> of(const Point& point) const {
        use_memory_of(point);
        return channels_of(all(), point);
    }
    void use_memory_of(const Point& point) const {
        for (Channel* channel : channels_of(all(), point)) channel->use(point.memory);
    }
    Channel& front() const { return *all_.front(); }

private:
    void open(const Job& job, std::span<const Offer> offers, const ChannelSettings& settings, int count,
              Queues queues);

    std::vector<std::unique_ptr<Channel>> channels_;
    std::vector<Channel*> all_;
};

// For what works over one channel, whose name user is. Throws UsageError where there are more.
Channel& only_channel(std::span<Channel* const> channels, std::string_view user);

} // namespace a2aperf
