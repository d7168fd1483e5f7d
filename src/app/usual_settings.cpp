// SPDX-License-Identifier: BSD-3-Clause
#include "usual_settings.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/config/selection.hpp"
#include "a2aperf/fabric/nic.hpp"
#include "alltoall_options.hpp"
#include "known_settings.hpp"

namespace a2aperf {
namespace {

using Skip = Workload::Skip;

constexpr Bytes kMostChunks = 16; // of a message; more cost more than they bring
// Of a rank: each of its endpoints is connected to every other rank, with the memory and the descriptors of that.
constexpr int kMostConnections = 256;
constexpr std::string_view kNoTime = "there is no time for it";

// As the first setting that is measured, in whatever mode and at whatever size; as the very first where none is.
Axes of_first_setting(const Axes& axes, const Layout& layout, const Skip& skip) {
    const std::vector<Point> points = make_plan(axes, layout, skip).points;
    const auto measured = std::ranges::find_if_not(points, &Point::is_skipped);
    const Point& first = measured == points.end() ? points.front() : *measured;
    Axes one = axes;
    one.schedules = {first.schedule};
    one.windows = {first.window_bytes > 0 ? Window{0, first.window_bytes} : Window{first.window}};
    one.chunks = {first.chunk};
    one.endpoints = {first.channels};
    if (first.channels > 1) one.queues = {first.queues};
    if (first.channels > 1) one.threads = {first.threads};
    one.polls = {first.polling};
    return one;
}

std::vector<Point> cut_into_usual_chunks(Axes axes, const Layout& layout, const Skip& skip) {
    axes.chunks = parse_chunks(tried_values("chunk"));
    std::vector<Point> points = make_plan(axes, layout, skip).points;
    std::erase_if(points, [](const Point& point) {
        return point.is_skipped() || !point.is_cut() || point.chunks() > kMostChunks;
    });
    return points;
}

std::vector<Point> polled_in_usual_ways(Axes axes, const Layout& layout, const Skip& skip) {
    axes.polls = parse_polls(tried_values("poll"));
    std::vector<Point> points = make_plan(axes, layout, skip).points;
    std::erase_if(points, &Point::is_skipped);
    return points;
}

// Why a rank does not have so many, whatever the provider. Empty: they are tried.
std::string usual_endpoints_trouble(const Options& options, int endpoints, int ranks) {
    if (ranks <= endpoints)
        return ranks == 2 ? "a rank has one peer, which is reached over one of them"
                          : fmt::format("a rank has {} peers, each reached over one of them", ranks - 1);
    if (ranks * endpoints > kMostConnections)
        return fmt::format("each is connected to every other of {} ranks", ranks);
    if (names_several_nics(options.nic))
        return fmt::format("which adapter one of --nic {} it has follows from how many there are", options.nic);
    const auto& way = options.polls.front();
    return way && way->polling == Polling::block ? "--poll block sleeps on the queue of one endpoint" : "";
}

std::vector<int> usual_endpoints(const Options& options, int ranks) {
    std::vector<int> endpoints = parse_endpoints(tried_values("endpoints"));
    std::erase_if(endpoints, [&](int one) { return !usual_endpoints_trouble(options, one, ranks).empty(); });
    return endpoints;
}

std::vector<Point> over_usual_endpoints(const Options& options, Axes axes, const Layout& layout, const Skip& skip) {
    axes.endpoints = usual_endpoints(options, layout.ranks());
    return axes.endpoints.empty() ? std::vector<Point>() : make_plan(axes, layout, skip).points;
}

// A rank's endpoints with one queue have one domain, and it one thread.
bool has_queues_for_threads(const Options& options) {
    return std::ranges::count(alltoall_options(options).queues, Queues::each) > 0;
}

// Of several endpoints, in what numbers of them are tried.
std::vector<Point> driven_by_usual_threads(const Options& options, Axes axes, const Layout& layout,
                                           const Skip& skip) {
    axes.endpoints = options.is_given("endpoints") ? alltoall_options(options).endpoints
                                                   : usual_endpoints(options, layout.ranks());
    std::erase(axes.endpoints, 1);
    if (axes.endpoints.empty() || !has_queues_for_threads(options)) return {};
    axes.queues = {Queues::each};
    axes.threads = parse_threads(tried_values("threads"));
    std::vector<Point> points = make_plan(axes, layout, skip).points;
    std::erase_if(points, &Point::is_skipped);
    return points;
}

// Of so many where they are planned.
std::string why_no_endpoints(const Options& options, const Plan& first, int endpoints, int ranks) {
    if (std::string why = usual_endpoints_trouble(options, endpoints, ranks); !why.empty()) return why;
    std::string why(kNoTime);
    for (const Point& point : first.points) {
        if (point.channels != endpoints) continue;
        if (!point.is_skipped()) return {};
        if (why == kNoTime) why = point.skip_reason;
    }
    return why;
}

// Of numbers of endpoints that are tried with one thread; of others the same words say why there are none.
std::vector<std::string> untried_threads(const Options& options, const Plan& first, const WhyThreadsShare& why) {
    std::map<int, bool> has_threads; // by endpoints
    for (const Point& point : first.points)
        if (point.channels > 1 && !point.is_skipped()) has_threads[point.channels] |= point.threads != Threads::one;
    std::vector<std::string> words;
    for (const auto& [endpoints, is_tried] : has_threads) {
        if (is_tried) continue;
        std::string shared = why(endpoints);
        if (!has_queues_for_threads(options))
            shared = "endpoints that have one queue have one domain, which belongs to one thread at a time";
        words.push_back(fmt::format("--threads each of {} endpoints ({})", endpoints,
                                    shared.empty() ? std::string(kNoTime) : shared));
    }
    return words;
}

} // namespace

int most_usual_endpoints() {
    return std::ranges::max(parse_endpoints(tried_values("endpoints")));
}

std::vector<std::vector<Point>> usual_settings(const Options& options, const Axes& axes, const Layout& layout,
                                               const Skip& skip) {
    const Axes one = of_first_setting(axes, layout, skip);
    std::vector<std::vector<Point>> all;
    if (!options.is_given("chunk")) all.push_back(cut_into_usual_chunks(one, layout, skip));
    if (!options.is_given("endpoints")) all.push_back(over_usual_endpoints(options, one, layout, skip));
    if (!options.is_given("threads")) all.push_back(driven_by_usual_threads(options, one, layout, skip));
    if (!options.is_given("poll")) all.push_back(polled_in_usual_ways(one, layout, skip));
    std::erase_if(all, [](const std::vector<Point>& points) { return points.empty(); });
    return all;
}

std::optional<std::string> usual_poll_trouble(const Options& options, const Point& point,
                                              const std::string& oversubscription) {
    if (!point.polling || options.is_given("poll") || oversubscription.empty()) return std::nullopt;
    return oversubscription;
}

std::optional<std::string> usual_threads_trouble(const Options& options, const Point& point,
                                                 const WhyThreadsShare& why) {
    if (point.threads == Threads::one || options.is_given("threads")) return std::nullopt;
    std::string shared = why(point.threads_of_rank());
    return shared.empty() ? std::nullopt : std::optional(std::move(shared));
}

std::string untried_words(const Options& options, const Plan& first, int ranks, const std::string& oversubscription,
                          const WhyThreadsShare& why_threads_share) {
    std::vector<std::string> left_out;
    const bool has_threads = options.is_given("threads");
    for (const int endpoints : parse_endpoints(tried_values("endpoints"))) {
        if (options.is_given("endpoints")) break;
        if (const std::string why = why_no_endpoints(options, first, endpoints, ranks); !why.empty())
            left_out.push_back(
                fmt::format("--endpoints {}{} ({})", endpoints, has_threads ? "" : ", --threads each", why));
    }
    if (!has_threads)
        std::ranges::move(untried_threads(options, first, why_threads_share), std::back_inserter(left_out));
    const bool has_polls =
        std::ranges::any_of(first.points, [](const Point& point) { return point.polling && !point.is_skipped(); });
    if (!options.is_given("poll") && !has_polls)
        left_out.push_back(
            fmt::format("another --poll ({})", oversubscription.empty() ? std::string(kNoTime) : oversubscription));
    if (left_out.empty()) return {};
    return fmt::format("not tried: {}", fmt::join(left_out, "; "));
}

} // namespace a2aperf
