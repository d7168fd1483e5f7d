// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/channels.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/fabric/class_of_service.hpp"
#include "a2aperf/fabric/provider.hpp"

namespace a2aperf {

std::optional<std::string> channels_trouble(std::string_view provider, int count) {
    const int most = find_provider(provider).max_endpoints;
    if (most == 0 || count <= most) return std::nullopt;
    return fmt::format("{} opens {} in a process, not {}", provider,
                       counted(static_cast<std::size_t>(most), "endpoint"), count);
}

std::span<Channel* const> channels_of(std::span<Channel* const> all, const Point& point) {
    const auto has_them = [&](const Channel* channel) {
        return channel->shares_queue() == (point.queues == Queues::one);
    };
    const auto first = std::ranges::find_if(all, has_them) - all.begin();
    return all.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(point.channels));
}

Channels::Channels(const Job& job, const Offer& offer, const ChannelSettings& settings, ChannelCounts counts,
                   std::span<const Offer> dealt) {
    if (const auto why = channels_trouble(offer.provider(), counts.all())) throw UsageError(*why);
    const std::span<const Offer> one(&offer, 1);
    open(job, dealt.empty() ? one : dealt, settings, counts.own, Queues::each);
    open(job, one, settings, counts.sharing, Queues::one);
}

void Channels::open(const Job& job, std::span<const Offer> offers, const ChannelSettings& settings, int count,
                    Queues queues) {
    QueueShare share;
    for (int i = 0; i < count; ++i) {
        const auto nth = static_cast<std::size_t>(i);
        const Offer& offer = offers[nth % offers.size()];
        Offer own = offer;
        const TrafficClass asked = nth < settings.classes.size() ? settings.classes[nth] : TrafficClass{};
        if (const auto tclass = tclass_of(asked)) own.set_traffic_class(*tclass);
        const ServiceLevel level(offer, asked);
        if (queues == Queues::one) share = {share.first, i, count};
        channels_.push_back(std::make_unique<Channel>(job, own, settings, asked, share));
        all_.push_back(channels_.back().get());
        if (queues == Queues::one && i == 0) share.first = all_.back();
    }
}

Channel& only_channel(std::span<Channel* const> channels, std::string_view user) {
    if (channels.size() != 1)
        throw UsageError(fmt::format("{} works over one channel, not over {}", user, channels.size()));
    return *channels.front();
}

} // namespace a2aperf
