// SPDX-License-Identifier: BSD-3-Clause
#include "endpoint_room.hpp"

#include "a2aperf/fabric/provider.hpp"
#include "a2aperf/measure/setup.hpp"

namespace a2aperf {

EndpointRoom::EndpointRoom(const Job& job, const ProviderChoice& choice, int most) : job_(job), choice_(choice) {
    int mine = 1; // which was looked at when the provider was chosen
    while (mine < most && !here(mine + 1)) ++mine;
    room_ = static_cast<int>(job.min(mine));
    why_ = job.first_text(room_ < most ? here(room_ + 1).value_or("") : "");
}

std::optional<std::string> EndpointRoom::here(int endpoints) const {
    return room_trouble(job_, find_provider(choice_.offer.provider()), endpoints);
}

std::optional<std::string> EndpointRoom::trouble(const Point& point) const {
    if (point.is_baseline() || point.channels == 1) return std::nullopt;
    if (!why_.empty() && point.channels > room_) return here(point.channels).value_or(why_);
    if (point.queues == Queues::one && !why_not_both_.empty())
        return "with one queue, beside those with a queue each: " + why_not_both_;
    return std::nullopt;
}

bool EndpointRoom::is_too_small_for(const ChannelCounts& counts) {
    if (counts.own == 0 || counts.sharing == 0) return false;
    auto why = endpoints_trouble(choice_, counts.all(), true, job_.layout());
    if (!why) why = here(counts.all());
    why_not_both_ = job_.first_text(why.value_or(""));
    return !why_not_both_.empty();
}

} // namespace a2aperf
