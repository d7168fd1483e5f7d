// SPDX-License-Identifier: BSD-3-Clause
// Round trips or streams of some ranks, and streams of others that load what they share, phase by phase. A
// rank is of one side: each has one engine, over the launch's only channel.
#pragma once

#include <memory>

#include "a2aperf/measure/flow.hpp"
#include "a2aperf/measure/mode_table.hpp"

namespace a2aperf {

// What a rank did, in its totals. A client keeps the times of what it does with its peers, a server keeps none.
enum class RankRole { idle, client, server, load };

// Of a point of interference, in one of PostedModes. Collective.
std::unique_ptr<Flow> make_interference(const EngineParts& parts);

} // namespace a2aperf
