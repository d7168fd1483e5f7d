// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/last_answers.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/fabric/last_write.hpp"

namespace a2aperf {
namespace {

constexpr std::string_view kAtLastWrites = "at its last writes";

} // namespace

void take_last_answers(const Channel& channel, const Job& job, Agreement& agreement, Deadline& deadline) {
    if (!channel.peers_write()) return;
    LastWrite write(channel.endpoint(), channel.send_region());
    const auto wait = [&](bool has_progress, Rank peer) {
        if (has_progress)
            deadline.reset();
        else if (!deadline.idle())
            throw RunError(fmt::format("{}: nothing happened for {}; it waits for {} to take one", kAtLastWrites,
                                       format_duration(deadline.waited()), job.who(peer)),
                           EndReason::fabric_deadline);
    };
    deadline.reset();
    for (Rank peer = 0; peer < job.ranks(); ++peer) {
        if (peer == job.rank()) continue;
        while (!write.post(peer, channel.remote(peer).receive)) wait(write.progress() > 0, peer);
        for (int answers = 0; answers == 0; wait(answers > 0, peer)) answers = write.progress();
    }
    (void)agreement.reach([&] { return write.progress() > 0; }, [] { return std::string(kAtLastWrites); });
}

} // namespace a2aperf
