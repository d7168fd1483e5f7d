// SPDX-License-Identifier: BSD-3-Clause
#include "app/search_table.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

const PollingWay kSpin{Polling::spin};

Found found_at(Bytes size) {
    Point usual;
    usual.mode = "tagged";
    usual.schedule = &find_schedule("shift");
    usual.message_size = size;
    Found one{.usual = usual, .best = usual};
    one.usual_gbps = 1;
    one.best_gbps = 2;
    one.ops = 120;
    return one;
}

Found faster_at(Bytes size) {
    Found one = found_at(size);
    one.best.channels = 2;
    one.best.polling = PollingWay{Polling::throttle, 16};
    one.times = {.ratio = 2, .interval = Interval{1.9, 2.1}};
    return one;
}

bool has_line(const std::string& text, std::string_view line) {
    return ("\n" + text).find("\n" + std::string(line) + "\n") != std::string::npos;
}

} // namespace

TEST_CASE("rates have three digits, and factors thousandths near 1") {
    Found one = faster_at(8);
    one.usual_gbps = 0.00012345;
    one.best_gbps = 123.456;
    const auto row_has = [&](std::string_view words) {
        return search_table(std::vector<Found>{one}).find(words) != std::string::npos;
    };
    CHECK(row_has("     123 0.000123    2.000  1.900 to 2.100"));
    one.usual_gbps = 1.00049;
    one.best_gbps = 12.3456;
    one.times = {.ratio = 12.3456, .interval = Interval{9.9876, 1234.56}};
    CHECK(row_has("    12.3     1.00     12.3  9.988 to 1235 "));
    one.usual_gbps = 0;
    one.best_gbps = std::nan("");
    CHECK(row_has("       -        0 "));
}

TEST_CASE("a file for --config has the way in which the launch polled where it did not spin") {
    std::vector<Found> found{found_at(8)};
    CHECK(has_line(search_config(found, "shm", "a.h5", {Polling::yield}), "poll = \"yield\""));
    CHECK(search_config(found, "shm", "a.h5", kSpin).find("poll") == std::string::npos);
    found = {faster_at(1000)};
    CHECK(has_line(search_config(found, "shm", "a.h5", {Polling::yield}), "poll = \"throttle=16\""));
}

TEST_CASE("a file for --config has the endpoints and the way to poll that were faster") {
    const std::vector<Found> found{faster_at(1000), found_at(8)};
    const std::string text = search_config(found, "shm", "a.h5", kSpin);
    CHECK(has_line(text, "endpoints = \"2\""));
    CHECK(has_line(text, "poll = \"throttle=16\""));
    CHECK(has_line(text, "sizes = \"1000\""));
}

TEST_CASE("a file for --config has the one queue of the endpoints that were faster") {
    std::vector<Found> found{faster_at(1000)};
    CHECK(search_config(found, "shm", "a.h5", kSpin).find("queues") == std::string::npos);
    found.front().best.queues = Queues::one;
    CHECK(has_line(search_config(found, "shm", "a.h5", kSpin), "queues = \"one\""));
    CHECK(search_config(found, "shm", "a.h5", kSpin).find("threads") == std::string::npos);
    found.front().best.threads = Threads::each;
    CHECK(has_line(search_config(found, "shm", "a.h5", kSpin), "threads = \"each\""));
}

TEST_CASE("where the default is the fastest the file for --config leaves endpoints and polling to it") {
    const std::vector<Found> found{found_at(8)};
    const std::string text = search_config(found, "shm", "a.h5", kSpin);
    CHECK(text.find("endpoints") == std::string::npos);
    CHECK(text.find("poll") == std::string::npos);
    CHECK(has_line(text, "mode = \"tagged\""));
}
