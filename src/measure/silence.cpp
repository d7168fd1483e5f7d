// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/silence.hpp"

#include <algorithm>

namespace a2aperf {

void Silence::start(Nanoseconds now) {
    looked_ = now;
    states_.clear();
    for (const PeerSeen& peer : seen_)
        states_.push_back({.heard = peer.heard, .counted = 0, .watched = watched_, .moment = now});
}

Silent Silence::look(Nanoseconds now, std::uint64_t counted) {
    watched_ += std::min(now - looked_, timeout_ / kShares);
    looked_ = now;
    Silent silent;
    for (std::size_t i = 0; i < states_.size(); ++i) {
        const PeerSeen& peer = seen_[i];
        State& state = states_[i];
        if (peer.due.empty() || peer.heard != state.heard) {
            state = {.heard = peer.heard, .counted = counted, .watched = watched_, .moment = now};
            continue;
        }
        const Nanoseconds limit = timeout_ + (peer.is_asked ? 0 : timeout_ / kLonger);
        if (watched_ - state.watched < limit || counted - state.counted <= most_ahead_) continue;
        if (!silent.peers.empty() && peer.due != silent.due) continue;
        silent.lasted = silent.peers.empty() ? now - state.moment : std::min(silent.lasted, now - state.moment);
        silent.due = peer.due;
        silent.peers.push_back(peer.peer);
    }
    return silent;
}

} // namespace a2aperf
