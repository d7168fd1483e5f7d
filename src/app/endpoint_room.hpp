// SPDX-License-Identifier: BSD-3-Clause
// How many endpoints of each rank the nodes have room for: one answer for all ranks, for they plan by it.
#pragma once

#include <optional>
#include <string>

#include "a2aperf/fabric/provider_choice.hpp"
#include "a2aperf/job/job.hpp"
#include "a2aperf/plan/plan.hpp"

namespace a2aperf {

class EndpointRoom {
public:
    // most: of a rank that may be asked for. Collective.
    EndpointRoom(const Job& job, const ProviderChoice& choice, int most);

    std::optional<std::string> trouble(const Point& point) const;

    // Endpoints with a queue each and those with one queue are open at once. Where they find no room beside each
    // other, points of those with one queue have trouble from now on, and it is true: plan again. Collective.
    bool is_too_small_for(const ChannelCounts& counts);

private:
    std::optional<std::string> here(int endpoints) const;

    const Job& job_;
    const ProviderChoice& choice_;
    int room_;
    std::string why_, why_not_both_; // with the rank
};

} // namespace a2aperf
