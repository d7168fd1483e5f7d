// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/setup.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/random.hpp"
#include "a2aperf/fabric/provider.hpp"
#include "a2aperf/measure/adapters.hpp"
#include "a2aperf/measure/channels.hpp"
#include "a2aperf/measure/mode_table.hpp"
#include "a2aperf/measure/stream_words.hpp"
#include "a2aperf/plan/channel_part.hpp"
#include "host_facts.hpp"

namespace a2aperf {
namespace {

// A flag must not be seen before its message. nothing = there is a way.
std::optional<std::string> flag_trouble(const Offer& offer, Bytes message_size) {
    const std::string name = offer.provider();
    const Bytes ordered = offer.ordered_write();
    if (message_size <= ordered || find_provider(name).tells_delivery) return std::nullopt;
    return fmt::format("{} orders {}, and is not known to tell when a write is delivered: a flag could come before "
                       "its message",
                       name, ordered == 0 ? "no writes" : fmt::format("writes of up to {} B only", ordered));
}

// What finds no room may be told as an error, and a duration needs all of them.
std::optional<std::string> duration_trouble(const Offer& offer, const Point& point) {
    const std::string name = offer.provider();
    const Provider& provider = find_provider(name);
    if (provider.keeps_own_messages &&
        std::ranges::any_of(point.flow->who, [](const StreamPair& pair) { return pair.from == pair.to; }))
        return fmt::format("{} keeps messages of a process to itself: they would not pass the adapter", name);
    if (!posts_receives(find_mode(point.mode).arrival) || !provider.bounds_receives) return std::nullopt;
    const int needed = point.flow->room(point).receives;
    if (static_cast<std::size_t>(needed) <= offer.receive_queue()) return std::nullopt;
    return fmt::format("{} receives are posted at a time, of {}, and {} has room for {}", needed,
                       point.flow->posted(), name, offer.receive_queue());
}

// Of a rank, that send it something.
int most_sources(const Point& point, int ranks) {
    int most = 0;
    for (Rank to = 0; to < ranks; ++to) {
        int sources = 0;
        for (Rank from = 0; from < ranks; ++from)
            if (from != to && point.bytes(from, to) > 0) ++sources;
        most = std::max(most, sources);
    }
    return most;
}

// What can be under way at once has to find room in a queue.
std::optional<std::string> receives_trouble(const Offer& offer, const Point& point, int ranks) {
    const Provider& provider = find_provider(offer.provider());
    const Arrival arrival = find_mode(point.mode).arrival;
    if (!posts_receives(arrival) || !provider.bounds_receives) return std::nullopt;
    // Verification posts all that an endpoint takes at once, and receives for strays: one, or as many again where
    // none takes from anybody.
    const bool is_of_each = arrival == Arrival::receive && provider.needs_a_source();
    const auto channels = static_cast<Bytes>(point.channels);
    const auto needed_of = [&](int sources) {
        const Bytes chunks = point.chunks() * ((static_cast<Bytes>(sources) + channels - 1) / channels);
        return is_of_each ? 2 * chunks : chunks + 1;
    };
    Bytes needed = needed_of(point.distance > 0 ? 1 : ranks - 1);
    // The matrix is looked at where it matters.
    if (needed > offer.receive_queue() && point.traffic && point.draws() == 1)
        needed = needed_of(most_sources(point, ranks));
    if (needed <= offer.receive_queue()) return std::nullopt;
    return fmt::format("{} receives are posted to verify it, and {} has room for {}", needed, offer.provider(),
                       offer.receive_queue());
}

// Of one mode that a point's messages go by.
std::optional<std::string> mode_trouble(const Point& point, const ProviderChoice& choice, const Offer& offer,
                                        const Layout& layout) {
    const ModeEntry& mode = find_mode(point.mode);
    if (const auto refused = choice.refused_modes.find(point.mode); refused != choice.refused_modes.end())
        return refused->second;
    if (const Bytes most = offer.largest_message(); !point.is_cut() && point.largest_message() > most)
        return fmt::format("above the largest message of {}, {} B", offer.provider(), most);
    if (point.forwarding && mode.arrival != Arrival::receive)
        return fmt::format("node-aware forwards by receives that take one rank's message each, and {} has none",
                           point.mode);
    if (mode.arrival == Arrival::flag)
        if (auto why = flag_trouble(offer, point.largest_transfer())) return why;
    if (auto why =
            point.is_duration() ? duration_trouble(offer, point) : receives_trouble(offer, point, layout.ranks()))
        return why;
    const auto trouble = find_provider(offer.provider()).unexpected_trouble;
    const bool is_late = point.post == Post::inside || point.forwarding != nullptr;
    const bool may_be_unexpected = is_late && posts_receives(mode.arrival);
    if (trouble != nullptr && may_be_unexpected) return trouble(point.largest_transfer(), offer.inject_size());
    return std::nullopt;
}

// How many endpoints of a node's ranks each of its adapters has.
std::vector<std::size_t> on_adapters(std::size_t adapters, int ranks, int endpoints, bool are_dealt) {
    std::vector<std::size_t> counts(adapters, 0);
    for (int rank = 0; rank < ranks; ++rank)
        for (int i = 0; i < endpoints; ++i) {
            const ChannelPart part = are_dealt ? ChannelPart{i, endpoints} : ChannelPart{};
            ++counts[static_cast<std::size_t>(part.adapter(static_cast<int>(adapters), rank))];
        }
    return counts;
}

} // namespace

// What libfabric tells of a provider without an adapter of its own is of a process, and there is no other.
std::optional<std::string> endpoints_trouble(const ProviderChoice& choice, int endpoints, bool are_dealt,
                                             const Layout& layout) {
    if (endpoints == 1) return std::nullopt;
    const std::span<const Offer> offers = choice.offers();
    if (find_provider(choice.offer.provider()).needs != Needs::rdma_device) {
        const std::size_t most = choice.offer.endpoints();
        if (most == 0 || static_cast<std::size_t>(endpoints) <= most) return std::nullopt;
        return fmt::format("{} endpoints of a rank are more than the {} that {} has for a process", endpoints, most,
                           choice.offer.provider());
    }
    const auto& on_node = layout.ranks_on_node();
    const int ranks = *std::max_element(on_node.begin(), on_node.end());
    const std::vector<std::size_t> needed = on_adapters(offers.size(), ranks, endpoints, are_dealt);
    for (std::size_t i = 0; i < offers.size(); ++i) {
        const std::size_t most = offers[i].endpoints();
        if (most > 0 && needed[i] > most)
            return fmt::format(
                "{} ranks on a node with {} endpoints each{} need more than the {} that {} has", ranks, endpoints,
                offers.size() == 1 ? "" : fmt::format(" on {} adapters", offers.size()), most, offers[i].domain());
    }
    return std::nullopt;
}

std::optional<std::string> fabric_skip_reason(const Point& point, const ProviderChoice& choice,
                                              const Layout& layout) {
    const Offer& offer = choice.offer;
    if (point.is_baseline()) return std::nullopt;
    if (auto why = channels_trouble(offer.provider(), point.channels)) return why;
    if (point.queues == Queues::one && !choice.one_queue_trouble.empty()) return choice.one_queue_trouble;
    if (auto why = endpoints_trouble(choice, point.channels, !point.is_duration(), layout)) return why;
    for (const Point& of_mode : point.by_modes())
        for (const Offer& one : choice.offers())
            if (auto why = mode_trouble(of_mode, choice, one, layout)) return why;
    return std::nullopt;
}

void require_same_skips(const Job& job, const std::vector<PointSkip>& found, const std::string& adapter) {
    std::string skips;
    std::uint64_t digest = found.size();
    for (const PointSkip& point : found) {
        skips += point.why.empty() ? '-' : 's';
        digest = mix64(digest ^ static_cast<std::uint64_t>(skips.back()));
    }
    const auto mine = static_cast<std::int64_t>(digest >> 1U);
    if (job.min(mine) == job.max(mine)) return;
    const std::vector<std::string> of_ranks = job.all_gather_text(skips);
    const auto at_of = [](const std::string& text, std::size_t at) { return at < text.size() ? text[at] : '-'; };
    // Up to the first that differs all were asked of the same points.
    std::size_t at = 0;
    const auto differ = [&](const std::string& text) { return at_of(text, at) != at_of(of_ranks.front(), at); };
    while (at < found.size() && std::ranges::none_of(of_ranks, differ)) ++at;
    const PointSkip here = at < found.size() ? found[at] : PointSkip{};
    const std::vector<std::string> whys = job.all_gather_text(here.why), adapters = job.all_gather_text(adapter);
    const auto rank_that = [&](bool skips_it) {
        const auto one = std::ranges::find_if(
            of_ranks, [&](const std::string& text) { return (at_of(text, at) == 's') == skips_it; });
        return static_cast<std::size_t>(one - of_ranks.begin()) % of_ranks.size();
    };
    const std::size_t without = rank_that(true), with = rank_that(false);
    const auto named = [&](std::size_t rank) {
        const std::string& on = adapters[rank];
        return job.who(static_cast<Rank>(rank)) + (on.empty() ? "" : " on " + on);
    };
    throw UsageError(fmt::format("{}: {} cannot measure it ({}), and {} can: leave it out, or give a --provider or "
                                 "--nic that is alike on all nodes",
                                 here.label, named(without), whys[without], named(with)));
}

int most_threads(const Plan& plan) {
    int most = 1;
    for (const Point& point : plan.points)
        if (!point.is_skipped()) most = std::max(most, point.threads_of_rank());
    return most;
}

// A baseline takes those of its partner.
ChannelCounts channel_counts(const Plan& plan) {
    ChannelCounts counts;
    for (const Point& point : plan.points)
        if (!point.is_skipped() && !point.is_baseline()) counts.hold(point.channels, point.queues);
    if (counts.all() == 0) counts.own = 1;
    return counts;
}

int most_channels(const Plan& plan) {
    return channel_counts(plan).all();
}

std::size_t queue_entries(const Plan& plan, int ranks) {
    std::size_t most = 0;
    for (const Point& point : plan.points) {
        if (point.is_skipped()) continue;
        if (point.is_cut()) most = std::max(most, 2 * point.chunks() * static_cast<std::size_t>(ranks));
        if (!point.is_duration()) continue;
        const FlowRoom room = point.flow->room(point);
        most = std::max(most, static_cast<std::size_t>(room.receives + room.sends));
    }
    return most;
}

Completions completions(const Plan& plan) {
    const bool is_selective = std::ranges::any_of(plan.points, [](const Point& point) {
        return !point.is_skipped() && point.is_duration() && point.flow->leaves_completions_out();
    });
    return is_selective ? Completions::asked : Completions::all;
}

std::size_t flag_words(const Plan& plan, int ranks) {
    std::size_t most = 0;
    for (const Point& point : plan.points) {
        if (point.is_skipped() || point.is_baseline()) continue;
        for (const Point& of_mode : point.by_modes()) {
            const Arrival arrival = find_mode(of_mode.mode).arrival;
            if (arrival == Arrival::flag) most = std::max(most, point.chunks() * static_cast<std::size_t>(ranks));
            if (point.is_duration() && tells_by_words(arrival))
                most = std::max(most, StreamWords::count(ranks, point.flow->room(of_mode).messages));
        }
    }
    return most;
}

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
    return parts;
}

} // namespace

std::vector<std::string> agree_on_port_names(const Job& job, const std::vector<NicFacts>& adapters) {
    std::string mine;
    if (job.layout().local_index(job.rank()) == 0)
        for (const NicFacts& nic : adapters)
            for (const auto& [name, path] : port_counter_paths(nic)) mine += name + "\n";
    const auto texts = job.gather_text(mine);
    std::string all;
    if (job.is_root()) {
        std::set<std::string> names;
        for (const auto& text : texts)
            for (auto& name : split(text, '\n')) names.insert(std::move(name));
        all = fmt::format("{}", fmt::join(names, "\n"));
    }
    job.broadcast_text(all);
    return split(all, '\n');
}

void collect_facts(const Job& job, const ProviderChoice& choice, Provenance& provenance) {
    const Layout& layout = job.layout();
    std::string mine;
    // Those of a node by one of its ranks, for they look at each process here; rank 0 needs the names.
    const bool is_first = layout.local_index(job.rank()) == 0;
    std::vector<std::pair<std::string, std::string>> facts;
    if (is_first || job.is_root()) facts = node_facts(choice.nic, choice.here.machine_cores);
    if (is_first)
        for (const auto& [name, value] : facts) mine += value + "\n";
    const auto of_ranks = job.gather_text(mine);
    const auto bindings = job.gather_text(choice.here.cpu_list);
    std::vector<NicFacts> adapters = adapters_of(choice.used());
    std::vector<std::string> distances_here;
    for (NicFacts& nic : adapters) {
        if (nic.name.empty()) nic.name = choice.offer.domain();
        const auto distance = numa_distance(choice.here.numa_nodes, nic.numa_node);
        distances_here.push_back(distance ? std::to_string(*distance) : "");
    }
    const auto nics = names_by_rank(job, adapters);
    const auto distances = job.gather_text(fmt::format("{}", fmt::join(distances_here, ",")));
    if (!job.is_root()) return;

    for (const auto& ranks_here : layout.rank_at()) {
        provenance.nodes.push_back(job.host(ranks_here.front()));
        const auto values = split(of_ranks[static_cast<std::size_t>(ranks_here.front())], '\n');
        for (std::size_t i = 0; i < facts.size(); ++i)
            provenance.node_facts[facts[i].first].push_back(i < values.size() ? values[i] : "");
    }
    std::erase_if(provenance.node_facts, [](const auto& fact) {
        return is_fact_of_rdma(fact.first) && std::ranges::all_of(fact.second, &std::string::empty);
    });
    provenance.node_of_rank = layout.node_of_rank();
    provenance.rank_order = job.world_ranks();
    provenance.rank_facts = {{"binding", bindings}, {"nic", nics}, {"nic_distance", distances}};
}

} // namespace a2aperf
