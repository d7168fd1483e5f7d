// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/interference_plan.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/plan/point.hpp"

namespace a2aperf {
namespace {

void require_two(const std::vector<Rank>& ranks, std::string_view what, const Layout& layout) {
    if (ranks.size() >= 2) return;
    throw UsageError(fmt::format("{} need 2 ranks, and {} on {} leave them {}", what,
                                 counted(layout.ranks(), "rank"), counted(layout.nodes(), "node"), ranks.size()));
}

// Of streams, of the rank that needs most.
FlowRoom room_of_streams(const std::vector<StreamPair>& pairs, int window) {
    std::map<Rank, FlowRoom> of_rank;
    for (const StreamPair& pair : pairs) {
        FlowRoom& sender = of_rank[pair.from];
        sender.receives += kStreamCredits;
        sender.sends += window;
        FlowRoom& receiver = of_rank[pair.to];
        receiver.receives += window;
        receiver.messages += window;
    }
    FlowRoom most;
    for (const auto& [rank, room] : of_rank)
        most = {std::max(most.receives, room.receives), std::max(most.messages, room.messages),
                std::max(most.sends, room.sends)};
    return most;
}

Bytes bytes_of_streams(Bytes size, const FlowRoom& room) {
    return stream_stride(size) * static_cast<Bytes>(std::max(room.receives, room.sends + 1)); // a credit
}

void add_all(std::vector<Rank>& ranks, const std::vector<Rank>& more) {
    ranks.insert(ranks.end(), more.begin(), more.end());
}

} // namespace

int Phases::at(Nanoseconds offset) const {
    if (offset < 0) return -1;
    return static_cast<int>(std::min<std::int64_t>(offset / length, count()));
}

SampleKind Phases::kind_of(int phase) const {
    if (phase == 0) return SampleKind::load;
    const bool is_second = phase % 2 == 0, is_turned = (phase - 1) / 2 % 2 == 1;
    return is_second != is_turned ? SampleKind::loaded : SampleKind::alone;
}

SampleKind Phases::kind_at(Nanoseconds offset) const {
    const int phase = at(offset);
    return phase < 0 || phase >= count() || offset < settled(phase) ? SampleKind::unsettled : kind_of(phase);
}

Nanoseconds Phases::end_of_kind(Nanoseconds offset) const {
    const int phase = at(offset);
    return offset < settled(phase) ? settled(phase) : begin(phase + 1);
}

std::string_view to_string(Placement placement) {
    switch (placement) {
    case Placement::same:
        return "same";
    case Placement::other:
        return "other";
    case Placement::interleaved:
        return "interleaved";
    }
    return "";
}

std::string_view to_string(LoadPattern pattern) {
    switch (pattern) {
    case LoadPattern::all_to_all:
        return "all-to-all";
    case LoadPattern::incast:
        return "incast";
    case LoadPattern::hotspot:
        return "hotspot";
    case LoadPattern::permutation:
        return "permutation";
    case LoadPattern::stream:
        return "stream";
    }
    return "";
}

Sides sides_of(const Layout& layout, Placement placement) {
    if (placement != Placement::same && layout.nodes() < 2)
        throw UsageError(fmt::format("--placement {} needs 2 nodes, and there is 1: same has both sides on each",
                                     to_string(placement)));
    Sides sides;
    int node = 0;
    for (const std::vector<Rank>& ranks : layout.rank_at()) {
        const bool is_first = placement == Placement::other ? node < layout.nodes() / 2 : node % 2 == 0;
        if (placement == Placement::same) {
            const auto half = ranks.begin() + static_cast<std::ptrdiff_t>(ranks.size() / 2);
            if (half == ranks.begin())
                throw UsageError(
                    "--placement same needs 2 ranks on each node, and one has 1: other and interleaved "
                    "have each side on nodes of its own");
            add_all(sides.victims, {ranks.begin(), half});
            add_all(sides.load, {half, ranks.end()});
        } else {
            add_all(is_first ? sides.victims : sides.load, ranks);
        }
        ++node;
    }
    std::ranges::sort(sides.victims);
    std::ranges::sort(sides.load);
    require_two(sides.victims, "victims", layout);
    require_two(sides.load, "load ranks", layout);
    return sides;
}

std::string_view to_string(VictimKind kind) {
    switch (kind) {
    case VictimKind::echo:
        return "echo";
    case VictimKind::stream:
        return "stream";
    case VictimKind::all_to_all:
        return "all-to-all";
    }
    return "";
}

std::vector<StreamPair> victim_pairs(const std::vector<Rank>& victims, VictimKind kind) {
    if (kind == VictimKind::all_to_all) return load_pairs(victims, LoadPattern::all_to_all);
    const std::size_t clients = (victims.size() + 1) / 2, servers = victims.size() - clients;
    std::vector<StreamPair> pairs;
    for (std::size_t i = 0; i < clients; ++i) pairs.push_back({victims[i], victims[clients + i % servers]});
    if (kind == VictimKind::stream)
        for (StreamPair& pair : pairs) std::swap(pair.from, pair.to);
    return pairs;
}

std::vector<StreamPair> load_pairs(const std::vector<Rank>& load, LoadPattern pattern) {
    std::vector<StreamPair> pairs;
    const auto add = [&](Rank from, Rank to) {
        if (from != to && std::ranges::find(pairs, StreamPair{from, to}) == pairs.end())
            pairs.push_back({from, to});
    };
    const std::size_t half = load.size() / 2;
    if (pattern == LoadPattern::stream)
        for (std::size_t i = 0; i < half; ++i) add(load[load.size() - half + i], load[i]);
    if (pattern == LoadPattern::permutation || pattern == LoadPattern::hotspot)
        for (std::size_t i = 0; i < load.size(); ++i) add(load[i], load[(i + half) % load.size()]);
    if (pattern == LoadPattern::incast || pattern == LoadPattern::hotspot)
        for (const Rank from : load) add(from, load.front());
    if (pattern == LoadPattern::all_to_all) // the next one first: not all begin with the same
        for (std::size_t i = 0; i < load.size(); ++i)
            for (std::size_t step = 1; step < load.size(); ++step)
                pairs.push_back({load[i], load[(i + step) % load.size()]});
    return pairs;
}

bool InterferencePlan::is_load(Rank rank) const {
    return std::ranges::any_of(load,
                               [rank](const StreamPair& pair) { return pair.from == rank || pair.to == rank; });
}

std::string InterferencePlan::label(const Point& point) const {
    std::string of_victims, of_load;
    if (kind != VictimKind::echo) of_victims = fmt::format(" {}", to_string(kind));
    if (kind == VictimKind::stream) of_victims += fmt::format(" of window {}", victim_window);
    if (kind == VictimKind::all_to_all) of_victims += fmt::format(" of {} ranks", victim_window + 1);
    if (!load_class.text().empty()) of_load = fmt::format(" class {}", load_class.text());
    return fmt::format("{} interference {}{}{} load {} {} B window {}{} level {} % gap {} {} B", point.mode, pairs,
                       of_victims, point.memory_words(), to_string(pattern), load_size, load_window, of_load, level,
                       format_duration(gap), point.message_size);
}

std::string InterferencePlan::victims_text() const {
    if (kind == VictimKind::all_to_all) {
        std::set<Rank> ranks;
        for (const StreamPair& pair : victims) ranks.insert(pair.from);
        return fmt::format("{}", fmt::join(ranks, ","));
    }
    std::vector<std::string> words;
    for (const StreamPair& pair : victims) words.push_back(fmt::format("{}:{}", pair.from, pair.to));
    return fmt::format("{}", fmt::join(words, ","));
}

double InterferencePlan::payload(const Point& point) const {
    return victim_window * static_cast<double>(point.message_size);
}

FlowRoom InterferencePlan::victims_room() const {
    if (kind != VictimKind::echo) return room_of_streams(victims, under_way());
    std::map<Rank, int> of_rank;
    for (const StreamPair& pair : victims)
        for (const Rank rank : {pair.from, pair.to}) ++of_rank[rank];
    int most = 0;
    for (const auto& [rank, places] : of_rank) most = std::max(most, places);
    return {.receives = most, .messages = most, .sends = most};
}

FlowRoom InterferencePlan::room(const Point&) const {
    const FlowRoom one = victims_room(), other = room_of_streams(load, load_window);
    return {std::max(one.receives, other.receives), std::max(one.messages, other.messages),
            std::max(one.sends, other.sends)};
}

// A rank is of one side.
Bytes InterferencePlan::bytes(const Point& point) const {
    const FlowRoom room = victims_room();
    const Bytes of_victim = kind == VictimKind::echo ? stream_stride(std::max(point.message_size, request_size)) *
                                                           static_cast<Bytes>(room.receives)
                                                     : bytes_of_streams(point.message_size, room);
    return std::max(of_victim, bytes_of_streams(load_size, room_of_streams(load, load_window)));
}

std::string InterferencePlan::in_buffers(const Point&) const {
    const std::string of_load =
        fmt::format("{} of the load for each peer and the credits", counted(load_window, "message"));
    if (kind == VictimKind::echo) return "round trips, or " + of_load;
    if (kind == VictimKind::all_to_all)
        return fmt::format("a message of a victim for each peer and the credits, or {}", of_load);
    return fmt::format("{} of a victim, or {}", counted(victim_window, "message"), of_load);
}

std::vector<VerifiedSize> InterferencePlan::verified(const Point& point) const {
    std::vector<VerifiedSize> sizes;
    for (const Bytes size : {point.message_size, kind == VictimKind::echo ? request_size : load_size, load_size})
        if (std::ranges::find(sizes, size, &VerifiedSize::size) == sizes.end()) sizes.push_back({0, size});
    return sizes;
}

const InterferencePlan& interference_of(const Point& point) {
    return dynamic_cast<const InterferencePlan&>(*point.flow);
}

} // namespace a2aperf
