// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/path_streams.hpp"

#include <sched.h>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/fabric/nic.hpp"
#include "a2aperf/measure/credit_stream.hpp"
#include "a2aperf/transfer/modes.hpp"
#include "granted_class.hpp"

namespace a2aperf {
namespace {

enum Total : std::size_t { kSent, kReceived, kCpu, kBusy };

template <class Mode>
class PathEndOf final : public PathEnd {
public:
    template <class... Parts>
    explicit PathEndOf(Parts&&... parts) : stream_(std::forward<Parts>(parts)...) {}

    void prepare() override { stream_.prepare(); }
    bool advance() override { return stream_.advance(); }
    bool progress() override { return stream_.progress(); }
    bool has_outstanding() const override { return stream_.has_outstanding(); }
    std::int64_t sent() const override { return stream_.totals()[0]; }
    std::int64_t received() const override { return stream_.totals()[1]; }
    FlowMoments moments() const override { return stream_.moments(); }
    bool injects() const override { return stream_.injects(); }
    std::span<const std::int64_t> started() const override { return stream_.started(); }
    void expect(std::span<const std::int64_t> due) override { stream_.expect(due); }
    bool is_drained() const override { return stream_.is_drained(); }
    std::string waiting_for() const override { return stream_.waiting_for(); }
    void expect_sweep() override { stream_.expect_sweep(); }
    bool sweep() override { return stream_.sweep(); }

private:
    CreditStream<Mode> stream_;
};

StreamSettings settings_of(const EngineParts& parts, const Channel& channel, const Path& path) {
    const Offer& offer = channel.domain().offer();
    const StreamPair ends{path.from, path.to};
    StreamSettings settings = settings_of_streams(parts, offer, path.size, {&ends, 1});
    settings.window = path.window;
    Point silent = parts.point;
    silent.mode = path.mode;
    silent.message_size = path.size;
    silent.window = 0; // credits count what is under way
    settings.injects = uses_inject(offer, silent);
    return settings;
}

PathStreams::End make_end(const EngineParts& parts, Channel& channel, const Path& path) {
    const StreamSettings settings = settings_of(parts, channel, path);
    std::unique_ptr<PathEnd> end;
    for_each_mode([&]<class Mode>(Mode) {
        if (path.mode == Mode::kName)
            end = std::make_unique<PathEndOf<Mode>>(parts.job, channel, path.size, settings);
    });
    const bool is_sender = path.from == parts.job.rank();
    return {std::move(end), path.start, is_sender || path.to == parts.job.rank(), is_sender};
}

// Takes the samples along ticks by itself: rows of one path in one tick, of those paths that have an end here.
class PathsFlow final : public Flow {
public:
    PathsFlow(const Job& job, std::vector<PathStreams::End> ends, const std::vector<std::string>& told)
        : engine_(job, std::move(ends)), told_(fmt::format("{}", fmt::join(told, "\n"))) {}

    std::span<const std::string_view> counters() const override { return PathStreams::kCounters; }
    Nanoseconds run(DurationLoop& loop, const Duration& duration, TickSamples&, const Witness& witness) override {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < engine_.counters().size(); ++i) names.push_back(fmt::to_string(i));
        TickSamples ticks(std::vector<std::string_view>(names.begin(), names.end()));
        Duration of_each = duration;
        of_each.most_samples /= std::max<std::size_t>(engine_.paths(), 1);
        const Nanoseconds start = loop.run(engine_, of_each, ticks, witness);
        keep(ticks, names);
        return start;
    }
    bool is_over() const override { return engine_.is_over(); }
    FlowMoments moments() const override { return engine_.moments(); }
    bool injects() const override { return engine_.injects(); }
    std::span<const std::int64_t> totals() const override { return engine_.totals(); }
    std::string told() const override { return told_; }
    std::optional<KeptSamples> kept() const override {
        return KeptSamples{.moments = moments_,
                           .values = {path_, number_, sent_, received_, idle_},
                           .lost = lost_,
                           .are_offsets = true};
    }

private:
    void keep(const TickSamples& ticks, const std::vector<std::string>& names) {
        constexpr std::size_t kEach = PathStreams::kCounters.size();
        lost_ = static_cast<std::int64_t>(ticks.lost());
        for (std::size_t path = 0; path < engine_.paths(); ++path) {
            if (!engine_.is_here(path)) continue;
            const auto sent = ticks.column(names[path * kEach]), received = ticks.column(names[path * kEach + 1]),
                       idle = ticks.column(names[path * kEach + 2]);
            for (std::size_t tick = 0; tick < ticks.size(); ++tick) {
                moments_.push_back(ticks.moments()[tick]);
                path_.push_back(static_cast<std::int64_t>(path));
                number_.push_back(static_cast<std::int64_t>(tick));
                sent_.push_back(static_cast<std::int64_t>(sent[tick]));
                received_.push_back(static_cast<std::int64_t>(received[tick]));
                idle_.push_back(engine_.is_sender(path) ? static_cast<std::int64_t>(idle[tick]) : -1);
            }
        }
    }

    PathStreams engine_;
    std::string told_; // a line a path: the classes granted, those seen, the ports, why a class was not granted
    std::vector<Nanoseconds> moments_;
    std::vector<std::int64_t> path_, number_, sent_, received_, idle_;
    std::int64_t lost_ = 0;
};

} // namespace

PathStreams::PathStreams(const Job& job, std::vector<End> ends)
    : job_(job), ends_(std::move(ends)), running_(ends_.size()), counts_(ends_.size() * kCounters.size()),
      started_(static_cast<std::size_t>(job.ranks())) {
    for (std::size_t path = 0; path < ends_.size(); ++path)
        if (ends_[path].is_here) here_.push_back(path);
}

void PathStreams::prepare() {
    for (const std::size_t path : here_) ends_[path].end->prepare();
}

// A look at the clock a turn, for all paths.
bool PathStreams::advance() {
    const Nanoseconds now = now_ns();
    if (go_ == kNoMoment) [[unlikely]]
        go_ = turn_ = now;
    if (was_busy_) totals_[kBusy] += now - turn_;
    was_busy_ = false;
    for (std::size_t i = 0; i < here_.size(); ++i)
        was_busy_ |= advance(here_[i + first_ < here_.size() ? i + first_ : i + first_ - here_.size()], now);
    if (++first_ >= here_.size()) first_ = 0; // another one finds room first
    turn_ = now;
    return was_busy_;
}

// A sender that found nothing outstanding at the end of a turn had nothing since the turn began, at most, until the
// next one begins.
bool PathStreams::advance(std::size_t path, Nanoseconds now) {
    Running& running = running_[path];
    PathEnd& end = *ends_[path].end;
    if (!running.is_started) [[unlikely]] {
        if (now < go_ + ends_[path].start) return end.progress();
        running.is_started = true;
    }
    if (running.was_empty) running.idle += now - turn_;
    const bool has_moved = end.advance();
    running.was_empty = ends_[path].is_sender && !end.has_outstanding();
    count(path);
    return has_moved;
}

bool PathStreams::progress() {
    bool has_moved = false;
    for (const std::size_t path : here_) {
        has_moved |= ends_[path].end->progress();
        count(path);
    }
    return has_moved;
}

void PathStreams::count(std::size_t path) {
    const std::span<std::uint64_t> counts = std::span(counts_).subspan(path * kCounters.size(), kCounters.size());
    counts[0] = static_cast<std::uint64_t>(ends_[path].end->sent());
    counts[1] = static_cast<std::uint64_t>(ends_[path].end->received());
    counts[2] = static_cast<std::uint64_t>(running_[path].idle);
}

void PathStreams::expect(std::span<const std::int64_t>) {
    totals_[kCpu] = sched_getcpu();
    for (const End& path : ends_) path.end->expect(job_.all_to_all(path.end->started()));
}

bool PathStreams::is_drained() const {
    return std::ranges::all_of(here_, [&](std::size_t path) { return ends_[path].end->is_drained(); });
}

std::string PathStreams::waiting_for() const {
    std::vector<std::string> words;
    for (const std::size_t path : here_)
        if (!ends_[path].end->is_drained())
            words.push_back(fmt::format("{} of path {}", ends_[path].end->waiting_for(), path));
    return fmt::format("{}", fmt::join(words, ", "));
}

void PathStreams::expect_sweep() {
    totals_[kSent] = totals_[kReceived] = 0;
    for (const std::size_t path : here_) {
        totals_[kSent] += ends_[path].end->sent();
        totals_[kReceived] += ends_[path].end->received();
        ends_[path].end->expect_sweep();
    }
}

bool PathStreams::sweep() {
    bool is_done = true;
    for (const std::size_t path : here_) is_done = ends_[path].end->sweep() && is_done;
    return is_done;
}

FlowMoments PathStreams::moments() const {
    FlowMoments all{kNoMoment, kNoMoment, kNoMoment};
    for (const std::size_t path : here_) {
        const FlowMoments of_path = ends_[path].end->moments();
        if (of_path.begin != kNoMoment)
            all.begin = all.begin == kNoMoment ? of_path.begin : std::min(all.begin, of_path.begin);
        all.send_done = std::max(all.send_done, of_path.send_done);
        all.receive_done = std::max(all.receive_done, of_path.receive_done);
    }
    return all;
}

bool PathStreams::injects() const {
    return std::ranges::all_of(
        here_, [this](std::size_t path) { return !ends_[path].is_sender || ends_[path].end->injects(); });
}

std::optional<std::string> path_trouble(const Offer& offer, const Point& point) {
    const auto carries_data = [](const FlowMode& one) { return find_mode(one.mode).arrival == Arrival::data; };
    if (!offer.consumes_receive() || std::ranges::none_of(point.flow->modes(point), carries_data))
        return std::nullopt;
    return fmt::format("each write that carries data takes a posted receive of {}, and a path has none",
                       offer.provider());
}

namespace {

// The adapter that a channel uses, and its port where that is known; the domain where there is no adapter.
std::string port_of(const Channel& channel) {
    const Offer& offer = channel.domain().offer();
    const NicFacts nic = nic_of(offer);
    if (nic.name.empty()) return offer.domain();
    return nic.port.empty() ? nic.name : fmt::format("{}/{}", nic.name, nic.port);
}

// What came of each path's class. A byte goes over one channel after another, so that there are packets to look at
// before anything is timed.
std::vector<std::string> seen_classes(const EngineParts& parts, const std::vector<Path>& paths) {
    std::vector<std::string> seen(paths.size());
    for (std::size_t i = 0; i < paths.size(); ++i) {
        const auto nth = static_cast<std::size_t>(paths[i].channel);
        const Channel& channel = *parts.channels[nth];
        if (!shows_class(channel, paths[i].traffic_class)) continue; // on all ranks alike
        parts.job.barrier(); // what a rank sent before must not be taken for what it sends now
        std::unique_ptr<PacketWatch> watch;
        if (paths[i].to == parts.job.rank()) watch = watch_messages(channel, paths[i].from);
        parts.job.barrier(); // all look
        verify_channel(parts, nth, 1, paths[i].mode);
        if (watch) seen[i] = seen_class(channel, paths[i].traffic_class, *watch);
    }
    return seen;
}

} // namespace

std::unique_ptr<Flow> make_path_streams(const EngineParts& parts, const std::vector<Path>& paths) {
    std::vector<PathStreams::End> ends;
    std::vector<std::string> told, ports, troubles;
    for (const Path& path : paths) {
        Channel& channel = *parts.channels[static_cast<std::size_t>(path.channel)];
        ends.push_back(make_end(parts, channel, path));
        const Grant grant = grant_of(channel, path.traffic_class);
        told.push_back(grant.is_granted ? path.traffic_class.text() : "");
        ports.push_back(port_of(channel));
        troubles.push_back(grant.trouble);
    }
    for (std::string& seen : seen_classes(parts, paths)) told.push_back(std::move(seen));
    told.insert(told.end(), ports.begin(), ports.end());
    told.insert(told.end(), troubles.begin(), troubles.end());
    return std::make_unique<PathsFlow>(parts.job, std::move(ends), told);
}

} // namespace a2aperf
