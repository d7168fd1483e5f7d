// SPDX-License-Identifier: BSD-3-Clause
// What a side of an interference passes on of the flow by which its messages move: when they do is the side's own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/measure/flow.hpp"

namespace a2aperf {

template <class Inner>
class InterferenceSide {
public:
    void prepare() { flow_.prepare(); }
    bool progress() { return flow_.progress(); }
    bool is_over() const { return false; }
    bool has_peers() const { return false; }
    std::span<const std::uint64_t> counters() const { return flow_.counters(); }
    std::span<const std::int64_t> started() const { return flow_.started(); }
    void expect(std::span<const std::int64_t> due) { flow_.expect(due); }
    bool is_drained() const { return flow_.is_drained(); }
    std::string waiting_for() const { return flow_.waiting_for(); }
    void expect_sweep() { flow_.expect_sweep(); }
    bool sweep() { return flow_.sweep(); }
    FlowMoments moments() const { return flow_.moments(); }
    bool injects() const { return flow_.injects(); }

protected:
    template <class... Parts>
    explicit InterferenceSide(Parts&&... parts) : flow_(std::forward<Parts>(parts)...) {}

    Inner flow_;
};

} // namespace a2aperf
