// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/mode_table.hpp"

#include <vector>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/fabric/provider.hpp"
#include "a2aperf/measure/exchange.hpp"
#include "a2aperf/transfer/chunked.hpp"
#include "a2aperf/transfer/modes.hpp"
#include "a2aperf/transfer/sized.hpp"
#include "forwarding_verifier.hpp"
#include "granted_class.hpp"
#include "one_queue_engine.hpp"
#include "parted_engine.hpp"
#include "threaded_engine.hpp"
#include "verifier.hpp"

namespace a2aperf {
namespace {

template <TransferMode Mode>
ExchangeSettings settings_of(const EngineParts& parts, const Channel& channel, ChannelPart part) {
    const Domain& domain = channel.domain();
    const bool needs_a_source = find_provider(domain.offer().provider()).needs_a_source();
    Inject inject = Inject::never;
    if (uses_inject(domain.offer(), parts.point))
        inject = parts.point.window == 0 ? Inject::silent : Inject::counted;
    else if (channel.endpoint().completions() == Completions::asked)
        inject = Inject::asking;
    return {.window = part.window(parts.point.window),
            .inject = inject,
            .posts_receives = Mode::kArrival != Arrival::flag &&
                              (Mode::kArrival != Arrival::data || domain.offer().consumes_receive()),
            .strays = Mode::kArrival == Arrival::receive && needs_a_source ? Strays::from_each : Strays::from_any,
            .flag_behind = parts.point.largest_transfer() <= domain.offer().ordered_write() ? FlagBehind::post
                                                                                            : FlagBehind::delivery,
            .follows_on = parts.point.is_pipelined(),
            .names = &parts.loop.names()};
}

// Of a point that is measured beside MPI. Traffic that is not uniform has nothing for a rank itself.
SelfCopy self_copy_of(const EngineParts& parts, const TransferContext& first) {
    if (!parts.point.is_beside_mpi || parts.point.traffic) return {};
    return {&parts.channels.front()->memory(), first.send_buffer, first.receive_buffer, parts.point.message_size};
}

ChannelPart part_of(const EngineParts& parts, std::size_t channel) {
    return {static_cast<int>(channel), static_cast<int>(parts.channels.size())};
}

template <TransferMode Mode>
Nanoseconds verify_point(const EngineParts& parts) {
    Nanoseconds with_bytes = 0;
    for (std::size_t i = 0; i < parts.channels.size(); ++i) {
        Channel& channel = *parts.channels[i];
        const ChannelPart part = part_of(parts, i);
        ExchangeSettings settings = settings_of<Mode>(parts, channel, part);
        settings.traces = true;
        settings.follows_on = false; // all ranks are there between two of its ops
        with_bytes +=
            verify<Mode>(parts.job, channel, parts.loop, parts.deadline, parts.point, settings, parts.seed, part);
    }
    return with_bytes;
}

template <TransferMode Mode>
std::unique_ptr<Engine> make_fabric_engine(const EngineParts& parts) {
    const Peers all = parts.point.peers(parts.job.rank(), parts.job.layout(), parts.seed);
    const bool has_threads = parts.point.threads == Threads::each;
    std::vector<OwnDeadline> deadlines(has_threads ? parts.channels.size() : 0, OwnDeadline(parts.deadline));
    std::vector<typename PartedEngine<Mode>::Part> of_channels;
    for (std::size_t i = 0; i < parts.channels.size(); ++i) {
        Channel& channel = *parts.channels[i];
        const ChannelPart part = part_of(parts, i);
        ExchangeSettings settings = settings_of<Mode>(parts, channel, part);
        settings.traces = parts.traces;
        Messages<Mode> messages(channel, parts.point);
        const Peers peers = messages.of(part.deal(all, parts.job.rank(), parts.job.ranks()));
        Deadline& deadline = has_threads ? deadlines[i] : parts.deadline;
        Exchange<Mode> exchange(messages.context(), channel.endpoint(), peers.sends, peers.receives, settings,
                                deadline);
        of_channels.push_back({std::move(messages), std::move(exchange)});
    }
    const SelfCopy self_copy = self_copy_of(parts, of_channels.front().messages.context());
    if (of_channels.size() == 1 && !parts.point.is_cut())
        return std::make_unique<FabricEngine<Mode>>(std::move(of_channels.front().exchange), parts.point.post,
                                                    self_copy);
    if (has_threads)
        return std::make_unique<ThreadedEngine<Mode>>(
            parts.job, std::move(of_channels), std::move(deadlines),
            cpus_for_threads(parts.cores, static_cast<int>(parts.channels.size())), parts.point.post, self_copy,
            parts.deadline, parts.traces ? parts.job.ranks() : 0);
    if (parts.point.queues == Queues::one)
        return std::make_unique<OneQueueEngine<Mode>>(std::move(of_channels), parts.channels.front()->endpoint(),
                                                      parts.point.post, self_copy, parts.deadline,
                                                      parts.traces ? parts.job.ranks() : 0);
    return std::make_unique<PartedEngine<Mode>>(std::move(of_channels), parts.point.post, self_copy, parts.deadline,
                                                parts.traces ? parts.job.ranks() : 0);
}

// Of a point whose messages go by way of leaders.
template <TransferMode Mode>
Nanoseconds verify_forwarded(const EngineParts& parts) {
    Channel& channel = only_channel(parts.channels, "node-aware");
    return verify_forwarding<Mode>(parts.job, channel, parts.loop, parts.deadline, parts.point,
                                   settings_of<Mode>(parts, channel, {}), parts.seed);
}

template <TransferMode Mode>
std::unique_ptr<Engine> make_forwarding_engine(const EngineParts& parts) {
    Channel& channel = only_channel(parts.channels, "node-aware");
    ExchangeSettings settings = settings_of<Mode>(parts, channel, {});
    settings.traces = parts.traces;
    const TransferContext whole = channel.context(parts.point.message_size);
    return std::make_unique<ForwardingEngine<Mode>>(*parts.point.forwarding, whole, channel.memory(),
                                                    channel.endpoint(), settings, parts.deadline, parts.point.post,
                                                    self_copy_of(parts, whole));
}

// Of a point's messages: cut, of a size each, or all alike.
template <class Mode, class Act>
auto as_moved(const Point& point, Act act) {
    if (point.is_cut()) return act.template operator()<Chunked<Mode>>();
    if (point.traffic) return act.template operator()<Sized<Mode>>();
    return act.template operator()<Mode>();
}

std::vector<ModeEntry> make_table() {
    std::vector<ModeEntry> table;
    for_each_mode([&]<class Mode>(Mode) {
        // Each stage has receives of its own, and messages of a size each.
        constexpr bool kForwards = Mode::kArrival == Arrival::receive;
        const auto verify_any = [](const EngineParts& parts) {
            if constexpr (kForwards)
                if (parts.point.forwarding) return verify_forwarded<Sized<Mode>>(parts);
            return as_moved<Mode>(parts.point, [&]<class Moved>() { return verify_point<Moved>(parts); });
        };
        const auto make_any = [](const EngineParts& parts) {
            if constexpr (kForwards)
                if (parts.point.forwarding) return make_forwarding_engine<Sized<Mode>>(parts);
            return as_moved<Mode>(parts.point, [&]<class Moved>() { return make_fabric_engine<Moved>(parts); });
        };
        table.push_back({Mode::kName, Mode::kAbout, Mode::kCapabilities, Mode::kOrder, Mode::kRights,
                         Mode::kReceiveSpace, Mode::kInitiator, Mode::kArrival, verify_any, make_any});
    });
    return table;
}

} // namespace

std::span<const ModeEntry> mode_table() {
    static const std::vector<ModeEntry> table = make_table();
    return table;
}

const ModeEntry& find_mode(std::string_view name) {
    std::vector<std::string_view> names;
    for (const ModeEntry& entry : mode_table()) {
        if (entry.name == name) return entry;
        names.push_back(entry.name);
    }
    throw_unknown("mode", name, names);
}

std::span<const ModeDemands> mode_demands() {
    static const std::vector<ModeDemands> demands = [] {
        std::vector<ModeDemands> all;
        for (const ModeEntry& entry : mode_table())
            all.push_back({entry.name, entry.capabilities, entry.order, entry.initiator == Initiator::receiver});
        return all;
    }();
    return demands;
}

std::span<const ModeDemands> flow_demands() {
    static const std::vector<ModeDemands> demands = [] {
        std::vector<ModeDemands> all(mode_demands().begin(), mode_demands().end());
        for (ModeDemands& mode : all)
            if (tells_by_words(find_mode(mode.mode).arrival)) mode.capabilities |= kWordCapabilities;
        return all;
    }();
    return demands;
}

// Channels behind those are of what a rank sends itself.
void verify_channels(const EngineParts& parts) {
    const Point& point = parts.point;
    if (!point.flow) {
        find_mode(point.mode).verify(parts);
        return;
    }
    for (const VerifiedSize& one : point.flow->verified(point)) {
        const auto nth = static_cast<std::size_t>(one.channel);
        const auto verify = [&] { verify_channel(parts, nth, one.size, one.mode.empty() ? point.mode : one.mode); };
        Channel& channel = *parts.channels[nth];
        if (channel.connected_as_asked())
            verify();
        else
            connect_as_asked(parts.job, channel, verify);
    }
}

void verify_channel(const EngineParts& parts, std::size_t channel, Bytes size, const std::string& mode) {
    Point verified = parts.point.of_size(size);
    verified.mode = mode;
    find_mode(mode).verify(
        {parts.job, parts.channels.subspan(channel, 1), parts.loop, parts.deadline, verified, parts.seed});
}

void require_sends(std::span<const std::string> modes) {
    for (const std::string& mode : modes)
        if (find_mode(mode).initiator == Initiator::receiver)
            throw UsageError(fmt::format("--complete-at sender: in mode {} the receivers start the transfers, and "
                                         "no sender learns when they "
                                         "are done: leave out {}, or use --complete-at receiver",
                                         mode, mode));
}

bool uses_inject(const Offer& offer, const Point& point) {
    const Provider& provider = find_provider(offer.provider());
    const ModeEntry& mode = find_mode(point.mode);
    if (mode.initiator == Initiator::receiver) return false; // nothing is sent
    if (mode.arrival == Arrival::data && !provider.injects_data) return false;
    // Its flag waits for the message's completion.
    if (mode.arrival == Arrival::flag && point.largest_transfer() > offer.ordered_write()) return false;
    if (point.window != 0 && !provider.completes_injected) return false;
    return point.largest_transfer() <= offer.inject_size();
}

} // namespace a2aperf
