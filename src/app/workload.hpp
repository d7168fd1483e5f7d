// SPDX-License-Identifier: BSD-3-Clause
// What a user asks for: everything that one kind of measurement says about itself. The launch, the dry run and the
// estimate serve all of them and know none by name.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/config/workload_row.hpp"
#include "a2aperf/plan/plan.hpp"
#include "a2aperf/plan/traffic_class.hpp"
#include "a2aperf/record/columns.hpp"
#include "a2aperf/record/group_declaration.hpp"

namespace a2aperf {

class Engine;
class Flow;
class Launch;
class Offer;
struct Duration;
struct EngineParts;

class Workload {
public:
    using Skip = std::function<std::optional<std::string>(const Point&)>; // why a point cannot be measured

    virtual ~Workload() = default;

    virtual const WorkloadRow& row() const = 0;   // for the command line
    virtual std::string_view demands() const = 0; // "pairs need", before "at least N ranks"
    virtual int least_ranks(const Options&) const { return 2; }
    // As --nic has it: that of one of so many ranks. Throws UsageError.
    virtual std::string nic_of(const Options& options, Rank, int /*ranks*/) const { return options.nic; }
    // Of a rank.
    virtual int most_channels(const Options&) const { return 1; }
    // Whether peers are dealt over the endpoints of a rank, which then may have an adapter each; else all of a rank
    // have one.
    virtual bool deals_peers() const { return false; }
    // Whether some of its points have one queue for all endpoints of a rank.
    virtual bool shares_queues(const Options&) const { return false; }
    // Transfer modes that some of its messages go by.
    virtual std::vector<std::string> modes(const Options& options) const { return options.modes; }
    // Of all its messages; and of those that a rank sends over its n-th channel: none beyond.
    virtual std::vector<TrafficClass> classes(const Options&) const { return {}; }
    virtual std::vector<TrafficClass> classes_of(const Options& options, const Layout&, Rank) const {
        return classes(options);
    }
    // Names that it alone was asked for, as attributes of the launch's segment; empty = not asked for.
    virtual std::map<std::string, std::string> asked_names(const Options&) const { return {}; }

    // Why the provider cannot measure a point of its plan, beyond what holds for all workloads.
    virtual std::optional<std::string> trouble(const Offer&, const Point&) const { return std::nullopt; }

    // Pure: the same on all ranks, and without MPI.
    virtual Plan plan(const Options& options, const Layout& layout, const Skip& skip) const = 0;
    virtual std::string describe(const Plan& plan, const Options& options,
                                 int ranks) const = 0; // lines of --dry-run
    virtual int messages_at_once(int ranks) const = 0; // that a rank has room for, where memory suffices
    // Of which the largest has to have room.
    virtual std::vector<Bytes> message_sizes(const Options& options, const Layout&) const { return options.sizes; }

    // For the estimate: a point, and how many more points of the largest size may follow the plan.
    virtual double seconds_of_point(const Options& options, const Point& point, double ops, int ranks) const = 0;
    virtual int points_afterwards(const Options&) const { return 0; }
    // What rank 0 does meanwhile and at the end while the others wait, beyond what a point has of it.
    virtual double seconds_of_writing(const Options&, const Plan&, int /*ranks*/) const { return 0; }
    // That all of it was to take, where that was asked for.
    virtual std::optional<Nanoseconds> time_asked(const Options&) const { return std::nullopt; }
    // Of rank 0's memory, for the samples of one point.
    virtual Bytes sample_bytes(const Options&, int /*ranks*/) const { return 0; }
    // For --dry-run: what it takes beside the message buffers; empty = nothing to speak of.
    virtual std::string own_room(const Plan&, const Options&, const Layout&) const { return {}; }

    // Whether every op waits for all ranks: then the first point connects all of them, its trial ops tell how ops
    // can start, and a rank that begins late spoils the op. If not, each point connects by itself.
    virtual bool is_collective() const = 0;

    // What a rank sends in a second of an op: the progress shows it while a point is measured.
    virtual double gbps_rank(const Point& point, const Layout& layout, double op_time_ns) const = 0;

    // What its file holds of each point, and what beside the samples.
    virtual Schema schema() const = 0;
    virtual std::optional<GroupDeclaration> group(const Options&, const Plan&, int /*ranks*/) const { return {}; }
    // How an op moves its data, on every rank; the mode's exchange, unless it is said.
    virtual std::unique_ptr<Engine> engine(const EngineParts& parts) const;
    // Of a workload whose points run for durations: how messages move in one, how long it is, and how many ticks of
    // it are kept at most.
    virtual std::unique_ptr<Flow> flow(const EngineParts& parts) const;
    virtual Duration duration_of(const Options&, const Point&) const;
    virtual int most_ticks(const Options&, int) const { return 0; } // 0: its points are made of ops
    // Of the histogram of a rank's samples, how many buckets may have any; 0: its file has none.
    virtual int most_buckets(const Options&, int) const { return 0; }
    virtual void measure(Launch& launch) const = 0;
};

// Not every workload has every format of its table; names: of those it has.
void require_format(const Options& options, std::span<const Format> known, std::string_view names);
// Of one whose points have no kind of memory of their own.
void require_one_memory(const Options& options);
// Of what has a number of buffers: neither all nor bytes.
void require_whole_windows(const Options& options, std::string_view whose);
void require_one_poll(const Options& options);
// For points that run for a duration, whose ranks never wait.
void require_poll_without_pause(const Options& options);

// All there are: a new one is declared and listed here.
const Workload& alltoall();
const Workload& pairs();
const Workload& stream();
const Workload& echo();
const Workload& open_loop();
const Workload& qos();
const Workload& interference();

inline constexpr std::array kWorkloads{alltoall, pairs, stream, echo, open_loop, qos, interference};

// The rows of all of them, for the catalogue.
std::vector<const WorkloadRow*> workload_rows();

// The one that the user asked for.
const Workload& workload_of(const Options& options);

} // namespace a2aperf
