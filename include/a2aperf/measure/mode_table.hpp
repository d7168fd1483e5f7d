// SPDX-License-Identifier: BSD-3-Clause
// The transfer modes as rows: what the rest of the program knows of them. The one place that instantiates the
// timed loop.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "a2aperf/fabric/provider_choice.hpp"
#include "a2aperf/measure/channels.hpp"
#include "a2aperf/measure/engine.hpp"
#include "a2aperf/measure/op_loop.hpp"
#include "a2aperf/measure/thread_cpus.hpp"
#include "a2aperf/transfer/mode.hpp"

namespace a2aperf {

// What a point's engine is made of.
struct EngineParts {
    const Job& job;
    std::span<Channel* const> channels; // of this rank
    OpLoop& loop;
    Deadline& deadline;
    const Point& point;
    std::uint64_t seed;
    bool traces = false;              // the timed ops
    const NodeCores* cores = nullptr; // for threads; null: the system places them
};

struct ModeEntry {
    std::string_view name;
    std::string_view about;
    std::uint64_t capabilities;
    std::uint64_t order; // FI_ORDER_…
    Rights rights;
    ReceiveSpace receive_space;
    Initiator initiator;
    Arrival arrival;
    // Throws RunError when a message is lost, doubled, misdirected or damaged. Gives how long it filled and
    // compared bytes.
    Nanoseconds (*verify)(const EngineParts& parts);
    std::unique_ptr<Engine> (*make_engine)(const EngineParts& parts);
};

std::span<const ModeEntry> mode_table();

// Throws UsageError that names the ones there are.
const ModeEntry& find_mode(std::string_view name);

// What each of them asks of a provider.
std::span<const ModeDemands> mode_demands();
// The same of a launch whose messages move for durations.
std::span<const ModeDemands> flow_demands();

// Every size that the point has over each of its channels, as verify() of its mode. Collective.
void verify_channels(const EngineParts& parts);
// One of the sizes over one of the channels. Collective.
void verify_channel(const EngineParts& parts, std::size_t channel, Bytes size, const std::string& mode);

// Can an op in each of these modes end when its sends are done? Throws UsageError where nothing tells the sender.
void require_sends(std::span<const std::string> modes);

// Does a message of this point go by the provider's inject path?
bool uses_inject(const Offer& offer, const Point& point);

} // namespace a2aperf
