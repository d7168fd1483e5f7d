// SPDX-License-Identifier: BSD-3-Clause
#include "search.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/error.hpp"
#include "a2aperf/base/terminal.hpp"
#include "a2aperf/base/text_file.hpp"
#include "a2aperf/plan/halving.hpp"
#include "a2aperf/record/closing.hpp"
#include "launch.hpp"
#include "search_plan.hpp"
#include "search_table.hpp"
#include "usual_settings.hpp"

namespace a2aperf {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// first.h5: first.search.toml, beside it.
std::filesystem::path config_beside(std::filesystem::path results) {
    return results.replace_extension(".search.toml");
}

// Of a point's ops.
struct Figures {
    double time_ns = kUnknown; // median
    double gbps = kUnknown;    // per rank
    std::size_t ops = 0;
};

class Search {
public:
    explicit Search(Launch& launch)
        : launch_(launch), begin_(now_ns()), time_(alltoall_options(launch.options()).search.value()) {
        for (const auto& [size, points] : by_size(launch.plan())) {
            usual_.emplace(size, points.front());
            for (const int point : points) trials_[size].push_back({point, kUnknown});
        }
    }

    void select();
    void confirm();
    // On rank 0.
    std::vector<Found> found() const;
    std::vector<std::string> disturbed() const; // what was compared
    Nanoseconds passed() const { return now_ns() - begin_; }

private:
    void measure(Nanoseconds until, std::size_t first, std::size_t points);
    void keep(int index, PointOutcome&& outcome);
    void keep_faster_half();
    std::size_t measure_again();

    const Point& point(int index) const { return launch_.plan().points[static_cast<std::size_t>(index)]; }
    double time_of(int index) const {
        const auto known = figures_.find(index);
        return known != figures_.end() ? known->second.time_ns : kUnknown;
    }

    Launch& launch_;
    Nanoseconds begin_;
    Nanoseconds time_;
    std::map<Bytes, int> usual_;                 // of each size
    std::map<Bytes, std::vector<Trial>> trials_; // that are left
    // On rank 0.
    std::map<int, Figures> figures_;    // of each point that was measured
    std::map<int, PairedRatio> ratios_; // of a point that was compared with its partner
    std::map<Bytes, int> compared_;     // the point of each size that was measured last
    std::map<int, PointResult> kept_;   // of what was compared, for closing words
    double overhead_ns_ = 0;            // of a point, mean: all but its timed ops
    std::size_t measured_ = 0;
    std::size_t family_ = 1; // comparisons
};

// Every point has the same part of what is left; less what it takes beside its ops.
void Search::measure(Nanoseconds until, std::size_t first, std::size_t points) {
    const auto left = static_cast<double>(until - (now_ns() - begin_));
    auto each = static_cast<Nanoseconds>(left / static_cast<double>(points) - overhead_ns_);
    each = std::max<Nanoseconds>(each, 1'000'000);
    launch_.job().broadcast(each);
    launch_.limit_points(each);
    Progress progress = launch_.make_progress();
    progress.end_at(begin_ + time_);
    launch_.measure_points(
        progress, [&](int index, PointOutcome&& outcome) { keep(index, std::move(outcome)); }, first);
}

void Search::keep(int index, PointOutcome&& outcome) {
    const auto keep_one = [&](int at, const PointResult& result) {
        const Summary& summary = result.summary;
        figures_[at] = {};
        if (summary.count > 0) figures_[at] = {summary.p50, summary.gbps.rank, summary.count};
    };
    keep_one(index, outcome.own);
    double timed = 0;
    const CompleteAt rule = launch_.options().complete_at;
    for (const Nanoseconds op : op_times(outcome.own.samples, rule)) timed += static_cast<double>(op);
    const double overhead = std::max(0.0, static_cast<double>(outcome.own.duration_ns) - timed);
    overhead_ns_ += (overhead - overhead_ns_) / static_cast<double>(++measured_);
    if (outcome.beside) {
        const int partner = point(index).partner;
        keep_one(partner, *outcome.beside);
        const auto blocks = [&](const PointResult& result) {
            return op_times_in_blocks(result.samples, rule, alltoall().schema().block);
        };
        ratios_[index] = paired_ratio(blocks(*outcome.beside), blocks(outcome.own), family_);
        kept_[partner] = kept_for_closing(std::move(*outcome.beside));
    }
    if (point(index).role == Role::measure) kept_[index] = kept_for_closing(std::move(outcome.own));
}

// What rank 0 decides, all ranks have.
void Search::keep_faster_half() {
    std::string words;
    if (launch_.job().is_root())
        for (auto& [size, trials] : trials_) {
            if (trials.size() < 2) continue;
            for (Trial& trial : trials) trial.time_ns = time_of(trial.point);
            std::vector<int> points;
            for (const Trial& trial : faster_half(trials)) points.push_back(trial.point);
            words += fmt::format("{} {} {} ", size, points.size(), fmt::join(points, " "));
        }
    launch_.job().broadcast_text(words);
    std::istringstream stream(words);
    Bytes size = 0;
    for (std::size_t count = 0; stream >> size >> count;) {
        std::vector<Trial>& trials = trials_[size];
        trials.assign(count, {});
        for (Trial& trial : trials) stream >> trial.point;
    }
}

// The settings that are left, as new points; gives their number.
std::size_t Search::measure_again() {
    std::vector<Point> more;
    std::vector<int> order;
    for (auto& [size, trials] : trials_) {
        if (trials.size() < 2) continue;
        for (Trial& trial : trials) {
            more.push_back(point(trial.point));
            trial.point = static_cast<int>(launch_.plan().points.size() + more.size()) - 1;
            order.push_back(trial.point);
        }
    }
    if (!more.empty()) launch_.extend(more, order);
    return more.size();
}

// Half of the time is for this, the same part of it for each round.
void Search::select() {
    std::size_t most = 0;
    for (const auto& [size, trials] : trials_) most = std::max(most, trials.size());
    const int rounds = halvings(most);
    std::size_t first = 0;
    std::size_t points = launch_.plan().order.size();
    for (int round = 0; round < rounds && points > 0; ++round) {
        const Nanoseconds passed = now_ns() - begin_;
        measure(passed + (time_ / 2 - passed) / (rounds - round), first, points);
        first = launch_.plan().order.size();
        keep_faster_half();
        points = measure_again();
    }
}

// The winner of each size and the default setting beside it; the default alone where it is the winner.
void Search::confirm() {
    std::vector<Point> more;
    std::vector<int> order;
    const std::size_t before = launch_.plan().points.size();
    family_ = 0;
    for (const auto& [size, trials] : trials_) {
        if (trials.empty()) continue;
        const auto at = static_cast<int>(before + more.size());
        Point best = point(trials.front().point);
        Point usual = point(usual_.at(size));
        best.role = usual.role = Role::measure;
        order.push_back(at);
        compared_[size] = at;
        if (setting_of(best) != setting_of(usual)) {
            best.partner = at + 1;
            usual.partner = at;
            ++family_;
            more.push_back(best);
        }
        more.push_back(usual);
    }
    if (more.empty()) return;
    const std::size_t first = launch_.plan().order.size();
    launch_.extend(more, order);
    measure(time_, first, order.size());
}

std::vector<Found> Search::found() const {
    std::vector<Found> all;
    for (const auto& [size, index] : compared_) {
        const int partner = point(index).partner;
        Found one{.usual = point(partner < 0 ? index : partner), .best = point(index)};
        const Figures& best = figures_.at(index);
        const Figures& usual = figures_.at(partner < 0 ? index : partner);
        one.best_gbps = best.gbps;
        one.usual_gbps = usual.gbps;
        one.ops = std::min(best.ops, usual.ops);
        if (one.ops == 0) continue; // none was valid
        if (partner >= 0) one.times = ratios_.at(index);
        all.push_back(std::move(one));
    }
    return all;
}

std::vector<std::string> Search::disturbed() const {
    std::vector<Row> rows;
    for (const auto& [index, result] : kept_)
        if (result.summary.count > 0) rows.push_back({point(index), &result});
    Rows compared;
    for (const Row& row : rows) compared.push_back(&row);
    const auto yields = [&](const Row& row) {
        return row.point.polling.value_or(launch_.prepared().polling.way).polling != Polling::spin;
    };
    return disturbances(compared, std::ranges::any_of(rows, yields));
}

void write_config(const std::filesystem::path& file, const std::string& text, Overwrite overwrite) {
    try {
        write_text_file(file, text, overwrite == Overwrite::force);
    } catch (const std::system_error& error) {
        throw RunError(fmt::format("{}: the findings are in the results file", error.what()));
    }
}

// A link that leads nowhere is in the way, too.
void require_free(const std::filesystem::path& file, Overwrite overwrite) {
    const auto kind = std::filesystem::symlink_status(file).type();
    if (kind == std::filesystem::file_type::directory)
        throw UsageError(fmt::format("{} is a folder: name other results with -o", file.string()));
    if (overwrite != Overwrite::force && kind != std::filesystem::file_type::not_found)
        throw UsageError(
            fmt::format("{} exists already: --force replaces it, or name other results with -o", file.string()));
}

// Chunks that were not given are left out where they take too long.
bool has_tried_whole_messages_alone(const Launch& launch) {
    return !launch.options().is_given("chunk") && std::ranges::none_of(launch.plan().points, &Point::is_cut);
}

// On rank 0, when all is in the file.
void tell_found(const Launch& launch, const std::vector<Found>& found, const std::vector<std::string>& disturbed,
                const std::filesystem::path& config, Nanoseconds took) {
    say(search_table(found));
    if (launch.options().is_quiet) return;
    if (const std::string words = launch.oversubscription(); !words.empty()) tell(words);
    for (const std::string& line : search_words(found)) tell(line);
    if (has_tried_whole_messages_alone(launch))
        tell("messages were tried whole alone: --chunk names chunks to try");
    for (const std::string& words : disturbed) tell(fmt::format("note: {}", words));
    // The fewest ops of a point, and what comes before them, take what they take.
    if (const Nanoseconds asked = alltoall_options(launch.options()).search.value(); took > asked + asked / 10)
        tell(fmt::format("the search took {} where {} were asked for", format_duration(took),
                         format_duration(asked)));
    tell(fmt::format("{} measured: {}; for --config: {}",
                     counted(static_cast<std::int64_t>(launch.points_measured()), "point"),
                     launch.file().path().string(), config.string()));
}

} // namespace

void search_all(Launch& launch) {
    const std::filesystem::path config = config_beside(launch.file().path());
    on_root(launch.job(), [&] { require_free(config, launch.options().overwrite); });
    launch.open_file();
    Progress progress = launch.make_progress();
    launch.introduce(progress);
    const std::string shared_cores =
        why_cores_are_shared(launch.job(), launch.prepared().cores_of_nodes, most_threads(launch.plan()));
    const std::string untried =
        untried_words(launch.options(), launch.plan(), launch.job().ranks(), shared_cores,
                      [&](int threads) { return launch.prepared().why_threads_share(launch.job(), threads); });
    if (!untried.empty()) progress.note(untried);
    Search search(launch);
    search.select();
    search.confirm();
    const Nanoseconds took = search.passed();
    launch.finish();
    progress.clear();
    std::vector<Found> found;
    if (launch.job().is_root()) found = search.found();
    on_root(launch.job(), [&] {
        if (found.empty())
            throw RunError(fmt::format("{}: nothing was found, for no size has valid ops of a setting and of the "
                                       "default side by side: give --search more time, or fewer ranks to a core",
                                       launch.file().path().string()));
        write_config(config,
                     search_config(found, launch.prepared().provider(), launch.file().path().string(),
                                   launch.prepared().polling.way),
                     launch.options().overwrite);
    });
    if (launch.job().is_root()) tell_found(launch, found, search.disturbed(), config, took);
}

} // namespace a2aperf
