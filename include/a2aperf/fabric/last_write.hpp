// SPDX-License-Identifier: BSD-3-Clause
// A write of one byte into a peer's memory, to learn that the peer has answered all writes before it.
#pragma once

#include <rdma/fabric.h>

#include "a2aperf/base/units.hpp"
#include "a2aperf/fabric/endpoint.hpp"
#include "a2aperf/fabric/region.hpp"

namespace a2aperf {

class LastWrite {
public:
    // source: a region that may be written from.
    LastWrite(const Endpoint& endpoint, const Region& source) : endpoint_(endpoint), source_(source) {}

    // False where there is no room: to be tried again after progress(). One at a time.
    [[nodiscard]] bool post(Rank peer, const Region::Remote& target);
    // Reads the queue: how many completions were there.
    int progress();

private:
    const Endpoint& endpoint_;
    const Region& source_;
    fi_context2 context_{};
};

} // namespace a2aperf
