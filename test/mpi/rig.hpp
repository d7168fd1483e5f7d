// SPDX-License-Identifier: BSD-3-Clause
// What each rank of a launch has: channels over TCP or what A2APERF_TEST_PROVIDER names, a deadline, and the loop
// of ops.
#pragma once

#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "a2aperf/fabric/provider_choice.hpp"
#include "a2aperf/measure/mode_table.hpp"
#include "a2aperf/measure/mpi_transport.hpp"
#include "a2aperf/measure/setup.hpp"
#include "a2aperf/measure/stream_words.hpp"
#include "test/mpi/mpi_test.hpp"

namespace a2aperf::test {

inline constexpr Bytes kMessage = 3000;

inline Point point_of(std::string mode, Bytes message_size = kMessage) {
    Point point;
    point.mode = std::move(mode);
    point.schedule = &find_schedule("shift");
    point.message_size = message_size;
    return point;
}

struct Rig {
    // With room for so many messages in each buffer.
    Rig(const std::vector<std::string>& modes, int places, int count = 1,
        std::span<const ModeDemands> demands = mode_demands(), Completions completions = Completions::all)
        : Rig(modes, places, ChannelCounts{.own = count}, demands, completions) {}
    Rig(const std::vector<std::string>& modes, int places, ChannelCounts counts,
        std::span<const ModeDemands> demands = mode_demands(), Completions completions = Completions::all)
        : channels(job(), offer(modes, demands), settings(modes, places, completions), counts) {}

    EngineParts parts(const Point& point, std::uint64_t seed) {
        return {job(), channels.all(), loop, deadline, point, seed};
    }

    Channels channels;
    Channel& channel = channels.front();
    CommonClock clock; // all ranks are on one machine
    Deadline deadline{Polling::yield, job().timeout()};
    OpLoop loop{job(), clock, deadline};

private:
    static std::string provider() {
        const char* const name = std::getenv("A2APERF_TEST_PROVIDER");
        return name != nullptr ? name : "tcp";
    }
    static Offer offer(const std::vector<std::string>& modes, std::span<const ModeDemands> demands) {
        ProviderChoice choice =
            choose_provider(job(), {provider(), "nearest", modes, demands, mpi_uses_libfabric()});
        REQUIRE(choice.refused_modes.empty());
        return std::move(choice.offer);
    }
    static ChannelSettings settings(const std::vector<std::string>& modes, int places, Completions completions) {
        ChannelSettings all{.buffer_bytes = kMessage * static_cast<Bytes>(places),
                            .spare_bytes = kMessage,
                            .completions = completions};
        for (const std::string& mode : modes) {
            all.rights.source |= find_mode(mode).rights.source;
            all.rights.target |= find_mode(mode).rights.target;
            if (tells_by_words(find_mode(mode).arrival)) all.flags = StreamWords::count(job().ranks(), places);
        }
        return all;
    }
};

} // namespace a2aperf::test
