// SPDX-License-Identifier: BSD-3-Clause
// What a rank does that stands between clients and their servers, and how long messages are with it by its own
// clock.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "a2aperf/measure/echo_settings.hpp"
#include "a2aperf/measure/service_queue.hpp"

namespace a2aperf {

class Relayed {
public:
    static constexpr bool kIsPaced = false;
    static constexpr bool kIsRelay = true;
    static constexpr bool kHasBothEnds = false;
    // Of the place from which it goes on.
    struct OfRequest {
        Nanoseconds came = 0;
    };
    explicit Relayed(const EchoSettings& settings)
        : queue_(settings.service_time, settings.clients.size() * static_cast<std::size_t>(settings.outstanding)) {}

    void reserve(std::size_t most_samples) {
        most_samples_ = most_samples;
        arrivals_.assign(most_samples, 0); // touched: the timed part allocates nothing
        times_.assign(most_samples, 0);
        arrivals_.clear();
        times_.clear();
    }

    ServiceQueue& queue() { return queue_; } // of requests; answers go on at once

    void note(bool is_request, Nanoseconds came, Nanoseconds gone) {
        std::int64_t* const totals = totals_ + (is_request ? 0 : 2);
        ++totals[0];
        totals[1] += gone - came;
        if (!is_request || times_.size() == most_samples_) return;
        arrivals_.push_back(came);
        times_.push_back(gone - came);
    }

    // Requests that went on, and ns that they were here, together; the same of answers.
    std::span<const std::int64_t, 4> totals() const { return totals_; }
    // Of the first requests: when they came, and ns until they went on.
    std::span<const Nanoseconds> arrivals() const { return arrivals_; }
    std::span<const std::int64_t> times() const { return times_; }

private:
    ServiceQueue queue_;
    std::int64_t totals_[4] = {};
    std::vector<Nanoseconds> arrivals_;
    std::vector<std::int64_t> times_;
    std::size_t most_samples_ = 0;
};

} // namespace a2aperf
