// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/both_ends.hpp"

#include <tuple>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"

namespace a2aperf {
namespace {

// One client and one server, of which this rank is one.
struct Ends {
    Rank client, server;
    int side; // among this rank's servers, or clients
};

// In one order on all ranks: so nobody waits for one that waits for it.
std::vector<Ends> ends_in_order(Rank self, const BothEnds& both) {
    std::vector<Ends> all;
    for (std::size_t i = 0; i < both.servers.size(); ++i)
        all.push_back({self, both.servers[i], static_cast<int>(i)});
    for (std::size_t i = 0; i < both.clients.size(); ++i)
        all.push_back({both.clients[i], self, static_cast<int>(i)});
    std::ranges::sort(all, {}, [](const Ends& ends) { return std::tuple(ends.client, ends.server); });
    return all;
}

// Where those of each place begin, and behind them all where the last ones end.
std::vector<std::size_t> begins_of(const std::vector<std::int64_t>& counts) {
    std::vector<std::size_t> begins{0};
    for (const std::int64_t count : counts) begins.push_back(begins.back() + static_cast<std::size_t>(count));
    return begins;
}

// Place after place; of how many there are of each the client is told first. What has no answer is the last of its
// place.
void tell(const Job& job, Rank client, int places, const ServedTrips& served,
          const std::function<Nanoseconds(Nanoseconds)>& of) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(places));
    for (std::size_t i = 0; i < served.came().size(); ++i)
        if (served.answered()[i] != kNoMoment) ++counts[served.places()[i]];
    std::vector<std::size_t> next = begins_of(counts);
    const std::size_t all = next.back();
    std::vector<std::int64_t> came(all), answered(all);
    for (std::size_t i = 0; i < served.came().size(); ++i) {
        if (served.answered()[i] == kNoMoment) continue;
        const std::size_t at = next[served.places()[i]]++;
        came[at] = of(served.came()[i]);
        answered[at] = of(served.answered()[i]);
    }
    job.send(client, counts);
    if (all == 0) return;
    job.send(client, came);
    job.send(client, answered);
}

void hear(const Job& job, Rank server, int side, const BothEnds& both, ServerMoments& moments) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(both.places));
    job.receive(server, counts);
    const std::vector<std::size_t> begins = begins_of(counts);
    std::vector<std::size_t> next = begins;
    const std::size_t all = begins.back();
    std::vector<std::int64_t> came(all), answered(all);
    if (all > 0) {
        job.receive(server, came);
        job.receive(server, answered);
    }
    for (std::size_t i = 0; i < both.asked.size(); ++i) {
        if (both.asked[i] / both.places != side) continue;
        const auto place = static_cast<std::size_t>(both.asked[i] % both.places);
        if (next[place] == begins[place + 1])
            throw RunError(fmt::format("a defect of the program: {} has told {} of fewer answers than came",
                                       job.who(server), job.who(job.rank())));
        const std::size_t at = next[place]++;
        moments.came[i] = came[at];
        moments.answered[i] = answered[at];
    }
}

} // namespace

ServerMoments tell_clients(const Job& job, const BothEnds& both,
                           const std::function<Nanoseconds(Nanoseconds)>& of) {
    ServerMoments moments{std::vector<Nanoseconds>(both.asked.size(), kNoMoment),
                          std::vector<Nanoseconds>(both.asked.size(), kNoMoment)};
    for (const Ends& ends : ends_in_order(job.rank(), both)) {
        if (ends.server == job.rank())
            tell(job, ends.client, both.places, both.served[static_cast<std::size_t>(ends.side)], of);
        else
            hear(job, ends.server, ends.side, both, moments);
    }
    return moments;
}

} // namespace a2aperf
