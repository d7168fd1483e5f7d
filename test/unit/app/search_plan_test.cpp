// SPDX-License-Identifier: BSD-3-Clause
#include "app/search_plan.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "a2aperf/base/error.hpp"
#include "app/estimate.hpp"

using namespace a2aperf;

namespace {

constexpr int kSearchRanks = 2;

std::optional<std::string> search_skips_none(const Point&) {
    return std::nullopt;
}

Options searched(Bytes size, std::vector<Bytes> chunks, Nanoseconds time) {
    Options options = default_options(alltoall().row());
    options.sizes = {size};
    alltoall_options(options).search = time;
    alltoall_options(options).chunks = std::move(chunks);
    options.given = {"chunk", "endpoints", "threads", "poll"}; // of which nothing else is then tried
    return options;
}

// In seconds; 0 where the time that was given is enough.
double needed(const Options& options) {
    const Layout layout = Layout::blocks(kSearchRanks, kSearchRanks);
    try {
        require_time(options, plan_search(options, layout, search_skips_none), kSearchRanks);
    } catch (const UsageError& error) {
        const std::string words = error.what();
        const std::size_t about = words.find("need about ");
        REQUIRE(about != std::string::npos);
        return std::stod(words.substr(about + 11));
    }
    return 0;
}

constexpr std::string_view kOptionsTried[] = {"--mode",      "--schedule", "--window", "--chunk",
                                              "--endpoints", "--threads",  "--poll"};
constexpr Nanoseconds kSecond = 1'000'000'000;

} // namespace

TEST_CASE("a search whose messages are cut into many chunks needs the time that these take") {
    // Ten ops and those before them, of a message that is sent as 100,000 chunks.
    const Options many = searched(100000, {1}, 5 * kSecond);
    const double least = (10 + many.warmup + 1) * 100000 * kSecondsPerMessage;
    CHECK(needed(many) > least);
    CHECK(needed(searched(100000, {50000}, 5 * kSecond)) == 0);
}

TEST_CASE("of settings that are slow the fewest ops are those of the first round") {
    // The default setting and one whose op takes 0.4 s: chosen between once, and compared as the faster of both.
    Options options = searched(100000, {1}, kSecond);
    const double slow = 100000 * (kSecondsPerMessage + 1 / kBytesPerSecond * 1);
    const double usual = kSecondsPerMessage + 100000 / kBytesPerSecond;
    const double untimed = options.warmup + 1;
    const double ops = (untimed + 10) * (slow + usual) + (untimed + 120) * 2 * usual;
    CHECK(needed(options) == doctest::Approx(3 * kSecondsBesideOps + ops).epsilon(0.05));
}

TEST_CASE("help and refusals of a search name every option whose values it tries") {
    const auto& rows = alltoall().row().options;
    const auto row =
        std::find_if(rows.begin(), rows.end(), [](const OptionRow& one) { return one.name == "search"; });
    REQUIRE(row != rows.end());
    for (const std::string_view name : kOptionsTried) {
        CAPTURE(name);
        CHECK(row->help.find(name) != std::string_view::npos);
        CHECK(kSearched.find(name) != std::string_view::npos);
    }
    const Layout layout = Layout::blocks(kSearchRanks, kSearchRanks);
    CHECK_THROWS_AS(plan_search(searched(1000, {0}, kSecond), layout, search_skips_none), UsageError);
}

TEST_CASE("chunks that are not given are tried in each mode where they cut a message into a few") {
    Options options = searched(100000, {0}, 60 * kSecond);
    options.given.clear();
    widen_axes(options, {"tagged", "write-imm"});
    options.sizes = {4096, 8192, 65536, 2'000'000};
    const Layout layout = Layout::blocks(kSearchRanks, kSearchRanks);
    std::map<Bytes, std::vector<std::pair<std::string, Bytes>>> cut;
    for (const Point& point : plan_search(options, layout, search_skips_none).points)
        if (point.is_cut()) {
            cut[point.message_size].emplace_back(point.mode, point.chunk);
            CHECK(point.window == 0);
        }
    using Cut = std::vector<std::pair<std::string, Bytes>>;
    const std::map<Bytes, Cut> wanted{
        {8192, Cut{{"tagged", 4096}, {"write-imm", 4096}}},
        {65536, Cut{{"tagged", 4096}, {"tagged", 16384}, {"write-imm", 4096}, {"write-imm", 16384}}}};
    CHECK(cut == wanted);
}

TEST_CASE("where all are to be whole none is cut") {
    Options options = searched(65536, {0}, kSecond);
    widen_axes(options, {"tagged", "write-imm"});
    const Layout layout = Layout::blocks(kSearchRanks, kSearchRanks);
    for (const Point& point : plan_search(options, layout, search_skips_none).points) CHECK_FALSE(point.is_cut());
}

TEST_CASE("chunks that are not given are left out where they take too long") {
    Options options = searched(65536, {0}, 1);
    widen_axes(options, {"tagged", "write-imm"});
    const double whole = needed(options);
    REQUIRE(whole > 0);
    options.given.clear();
    const auto is_tried = [&](double seconds) {
        alltoall_options(options).search = static_cast<Nanoseconds>(seconds * kSecond);
        CHECK(needed(options) == 0);
        return std::ranges::any_of(
            plan_search(options, Layout::blocks(kSearchRanks, kSearchRanks), search_skips_none).points,
            &Point::is_cut);
    };
    CHECK_FALSE(is_tried(whole + 0.1));
    CHECK(is_tried(10 * whole));
}
