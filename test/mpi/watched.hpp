// SPDX-License-Identifier: BSD-3-Clause
// A duration's engine that keeps what it knew when its end began.
#pragma once

#include <span>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/stats/samples.hpp"

namespace a2aperf::test {

template <class Engine>
struct Watched : Engine {
    using Engine::Engine;
    void expect(std::span<const std::int64_t> due) {
        sent_by_the_end = this->moments().send_done;
        Engine::expect(due);
    }
    Nanoseconds sent_by_the_end = kNoMoment;
};

} // namespace a2aperf::test
