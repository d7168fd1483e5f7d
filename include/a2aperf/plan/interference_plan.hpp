// SPDX-License-Identifier: BSD-3-Clause
// What some ranks measure, and messages between others that load what they share: in phases with the load and
// without.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/plan/flow_plan.hpp"
#include "a2aperf/plan/layout.hpp"
#include "a2aperf/plan/traffic_class.hpp"

namespace a2aperf {

// What moves in a phase. Phase 0 has the load alone at its full rate; then come as many alternations as were asked
// for, of two phases each: the first victims alone, then under load; the second the other way around, and so on.
// Of a sample also that its phase had not settled: it does not count.
enum class SampleKind { unsettled, load, alone, loaded };

struct Phases {
    Nanoseconds length = 0; // of each
    int alternations = 0;

    int count() const { return 1 + 2 * alternations; }
    Nanoseconds total() const { return count() * length; }
    // Of an offset from the start: -1 before it, count() from the end on.
    int at(Nanoseconds offset) const;
    Nanoseconds begin(int phase) const { return phase * length; }
    // What the phase before left under way ends by then: from here on the phase counts.
    Nanoseconds settled(int phase) const { return begin(phase) + length / 5; }
    SampleKind kind_of(int phase) const;
    SampleKind kind_at(Nanoseconds offset) const; // unsettled, too
    // How far from there all is of one phase and of one kind.
    Nanoseconds end_of_kind(Nanoseconds offset) const;
    Nanoseconds counted() const { return begin(1) - settled(0); } // of each
};

// Which ranks are victims, and which ones are the load.
struct Sides {
    std::vector<Rank> victims, load;
};
enum class Placement { same, other, interleaved };
std::string_view to_string(Placement placement);

// same: both on every node; other: the first half of the nodes has the victims, the others have the load;
// interleaved: nodes in turn. Throws UsageError where either side would have less than two ranks.
Sides sides_of(const Layout& layout, Placement placement);

// What victims do: round trips, a stream without a pause, or an all-to-all again and again.
enum class VictimKind { echo, stream, all_to_all };
std::string_view to_string(VictimKind kind);

// Of an echo the first half of them asks the second, in turn; a stream goes the way of its answers; of an
// all-to-all each sends to all others.
std::vector<StreamPair> victim_pairs(const std::vector<Rank>& victims, VictimKind kind);

enum class LoadPattern { all_to_all, incast, hotspot, permutation, stream };
std::string_view to_string(LoadPattern pattern);

// Who sends to whom. all_to_all: each to all others; incast: all to the first; permutation: each to the one half of
// them further; hotspot: both; stream: the second half to the first, as the victims' answers go.
std::vector<StreamPair> load_pairs(const std::vector<Rank>& load, LoadPattern pattern);

class InterferencePlan final : public FlowPlan {
public:
    std::vector<StreamPair> victims, load; // `who` has both
    VictimKind kind = VictimKind::echo;
    // Messages that one of a victim's times is of. Of a stream as many may be under way.
    int victim_window = 1;
    std::string placement; // as asked for
    LoadPattern pattern = LoadPattern::all_to_all;
    int level = 100; // % of the load's full rate
    Bytes request_size = 0, load_size = 0;
    int load_window = 1;
    TrafficClass load_class;
    Nanoseconds gap = 0; // between two samples of a victim, at least
    Phases phases;

    bool is_load(Rank rank) const;
    // From one victim to another, of what is not an echo.
    int under_way() const { return kind == VictimKind::stream ? victim_window : 1; }
    // Bytes that come to a victim, in the time that is one of its samples.
    double payload(const Point& point) const;
    // Which client asks which server, or who sends to whom; of an all-to-all who takes part.
    std::string victims_text() const;

    std::string label(const Point& point) const override;
    FlowRoom room(const Point& point) const override;
    Bytes bytes(const Point& point) const override;
    std::string in_buffers(const Point& point) const override;
    std::string_view posted() const override { return "messages of victims and of the load"; }
    Bytes other_size(const Point&) const override { return load_size; }
    std::vector<VerifiedSize> verified(const Point& point) const override; // every size that it has

private:
    FlowRoom victims_room() const; // of the rank of that side that has most
};

// Of a point that is one.
const InterferencePlan& interference_of(const Point& point);

} // namespace a2aperf
