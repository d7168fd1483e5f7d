// SPDX-License-Identifier: BSD-3-Clause
// What servers note of round trips, and how their clients come to know it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "a2aperf/base/units.hpp"
#include "a2aperf/job/job.hpp"
#include "a2aperf/measure/echo_settings.hpp"
#include "a2aperf/stats/samples.hpp"

namespace a2aperf {

// The first requests of one client at its server, in the order in which they came.
class ServedTrips {
public:
    void reserve(std::size_t most) {
        most_ = most;
        places_.assign(most, 0); // touched: the timed part allocates nothing
        came_.assign(most, 0);
        answered_.assign(most, kNoMoment);
        places_.clear();
        came_.clear();
    }
    // Gives which one it is; -1 = there was no room.
    std::int32_t note(int place, Nanoseconds now) {
        if (came_.size() == most_) return -1;
        places_.push_back(static_cast<std::uint8_t>(place));
        came_.push_back(now);
        return static_cast<std::int32_t>(came_.size() - 1);
    }
    void note_answer(std::int32_t which, Nanoseconds begin) { answered_[static_cast<std::size_t>(which)] = begin; }

    std::span<const std::uint8_t> places() const { return places_; } // of this client
    std::span<const Nanoseconds> came() const { return came_; }
    std::span<const Nanoseconds> answered() const { return std::span(answered_).first(came_.size()); }

private:
    std::vector<std::uint8_t> places_;
    std::vector<Nanoseconds> came_, answered_; // of the server's clock; kNoMoment = not answered
    std::size_t most_ = 0;
};

// Of one rank, which may be client and server.
struct BothEnds {
    std::span<const Rank> servers, clients;
    int places = 1;                      // of a client at each of its servers
    std::span<const std::int32_t> asked; // of each kept round trip its place; those of the first server come first
    std::span<const ServedTrips> served{}; // of each of the clients
};

// Of a client's kept round trips, by the server's clock.
struct ServerMoments {
    std::vector<Nanoseconds> came, answered;
};

// Each server tells its clients. Collective for those that are either; `of` makes something of a moment of this
// rank's clock that a peer can use. A place has one request after the other under way, so that both ends have those
// of a place in the same order.
ServerMoments tell_clients(const Job& job, const BothEnds& ends, const std::function<Nanoseconds(Nanoseconds)>& of);

// As AtOnce, but both ends note when messages came and went.
class AtOnceAtBothEnds {
public:
    static constexpr bool kIsPaced = false;
    static constexpr bool kIsRelay = false;
    static constexpr bool kHasBothEnds = true;
    // At the server: which of its client's requests this place has now.
    struct OfRequest {
        std::int32_t served = -1;
    };
    explicit AtOnceAtBothEnds(const EchoSettings& settings)
        : outstanding_(settings.outstanding), served_(settings.clients.size()) {}

    // When a client has as many answers as are kept, this many of its requests at most have come to one server: no
    // more are under way to that.
    void reserve(std::size_t most_samples, std::int64_t most_of_client) {
        auto most = most_samples + static_cast<std::size_t>(outstanding_);
        if (most_of_client >= 0) most = std::min(most, static_cast<std::size_t>(most_of_client));
        most = std::min<std::size_t>(most, std::numeric_limits<std::int32_t>::max());
        for (ServedTrips& trips : served_) trips.reserve(most);
    }
    void reserve_asked(std::size_t most_samples) {
        asked_.assign(most_samples, 0);
        asked_.clear();
    }
    ServedTrips& served(int client) { return served_[static_cast<std::size_t>(client)]; }
    void keep(int place) { asked_.push_back(place); }

    std::span<const std::int32_t> asked() const { return asked_; }
    std::span<const ServedTrips> served() const { return served_; }

private:
    int outstanding_;
    std::vector<ServedTrips> served_;
    std::vector<std::int32_t> asked_;
};

} // namespace a2aperf
