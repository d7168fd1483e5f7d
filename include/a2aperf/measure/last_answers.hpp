// SPDX-License-Identifier: BSD-3-Clause
// A channel that can be closed: nothing that a peer still sends is on its way to it.
#pragma once

#include "a2aperf/measure/agreement.hpp"
#include "a2aperf/measure/channel.hpp"

namespace a2aperf {

// Peers answer injected writes, too, and no completion tells of it. An answer that comes while psm3 closes its
// endpoint finds no handler any more, and the process dies (libfabric 1.21). So each rank writes a last byte to
// each peer where its modes write: when that one is answered, all before it are; when all ranks are there, all of
// them. Collective. Throws RunError past the deadline.
void take_last_answers(const Channel& channel, const Job& job, Agreement& agreement, Deadline& deadline);

} // namespace a2aperf
