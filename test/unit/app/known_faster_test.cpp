// SPDX-License-Identifier: BSD-3-Clause
#include "app/known_faster.hpp"

#include <cstdlib>
#include <list>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

struct Measured {
    std::list<Point> points;
    std::list<PointResult> results;
    std::vector<Row> rows;

    Point& add(std::string_view mode, Bytes size, std::size_t ops = 100) {
        Point& point = points.emplace_back();
        point.mode = mode;
        point.schedule = &find_schedule("shift");
        point.message_size = size;
        results.emplace_back().summary.count = ops;
        rows.push_back({point, &results.back()});
        return point;
    }
    std::vector<std::string> words(std::string_view provider = "tcp;ofi_rxm") const {
        return known_to_be_faster(provider, rows);
    }
};

} // namespace

TEST_CASE("what is faster is told with its figure where it was not measured") {
    Measured measured;
    measured.add("tagged", 16384);
    CHECK(measured.words().empty());
    measured.add("tagged", 65536);
    REQUIRE(measured.words().size() == 1);
    const std::string line = measured.words().front();
    CHECK(line.starts_with("above 16 KiB write-imm is known to move more over tcp;ofi_rxm than tagged: "));
    CHECK(line.find("1.8 to 2.3 times as fast as tagged at 60 kB") != std::string::npos);
    CHECK(line.ends_with("--mode tagged,write-imm compares them here"));
    for (const char* other : {"tcp", "net", "shm", "verbs;ofi_rxm", "tcp;ofi_rxd"})
        CHECK(measured.words(other).empty());

    measured.add("write-imm", 16384);
    measured.add("write-imm", 65536, 0); // no valid op
    CHECK(measured.words().size() == 1);
    measured.add("write-imm", 65536);
    CHECK(measured.words().empty());
}

TEST_CASE("what moves in pieces that the provider copies, or by another mode, is not slow") {
    Measured measured;
    measured.add("tagged", 65536).chunk = 16384;
    measured.add("write", 65536);
    measured.add("tagged", 65536, 0);
    measured.add("msg", 65536, 0);
    Point skipped = measured.points.front();
    skipped.chunk = 0;
    measured.rows.push_back({skipped, nullptr});
    CHECK(measured.words().empty());
}

TEST_CASE("every slower mode that was measured is told, and no other") {
    Measured measured;
    measured.add("msg", 65536);
    REQUIRE(measured.words().size() == 1);
    std::string line = measured.words().front();
    CHECK(line.starts_with("above 16 KiB write-imm is known to move more over tcp;ofi_rxm than msg: "));
    CHECK(line.ends_with("--mode msg,write-imm compares them here"));

    measured.add("tagged", 65536);
    REQUIRE(measured.words().size() == 1);
    line = measured.words().front();
    CHECK(line.find(" than tagged and msg: ") != std::string::npos);
    CHECK(line.ends_with("--mode tagged,msg,write-imm compares them here"));

    measured.add("write-imm", 65536);
    CHECK(measured.words().empty());
}

TEST_CASE("up to where it copies is up to its variable") {
    Measured measured;
    measured.add("tagged", 65536);
    setenv("FI_OFI_RXM_BUFFER_SIZE", "65536", 1);
    CHECK(measured.words().empty());
    setenv("FI_OFI_RXM_BUFFER_SIZE", "4096", 1);
    CHECK(measured.words().front().starts_with("above 4 KiB"));
    for (const char* odd : {"", "x", "0", "64K", "-1"}) {
        setenv("FI_OFI_RXM_BUFFER_SIZE", odd, 1);
        CHECK(measured.words().front().starts_with("above 16 KiB"));
    }
    unsetenv("FI_OFI_RXM_BUFFER_SIZE");
}
