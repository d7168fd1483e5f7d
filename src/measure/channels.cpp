// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/channels.hpp"

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

Channels::Channels(const Job& job, const Offer& offer, const ChannelSettings& settings, int count) {
    if (const auto why = channels_trouble(offer.provider(), count)) throw UsageError(*why);
    for (int i = 0; i < count; ++i) {
        Offer own = offer;
        const auto nth = static_cast<std::size_t>(i);
        const TrafficClass asked = nth < settings.classes.size() ? settings.classes[nth] : TrafficClass{};
        if (const auto tclass = tclass_of(asked)) own.set_traffic_class(*tclass);
        const ServiceLevel level(offer, asked);
        channels_.push_back(std::make_unique<Channel>(job, own, settings, asked));
        all_.push_back(channels_.back().get());
    }
}

Channel& only_channel(std::span<Channel* const> channels, std::string_view user) {
    if (channels.size() != 1)
        throw UsageError(fmt::format("{} works over one channel, not over {}", user, channels.size()));
    return *channels.front();
}

} // namespace a2aperf
