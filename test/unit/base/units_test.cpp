// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/base/units.hpp"

#include <limits>
#include <map>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/random.hpp"

using namespace a2aperf;

namespace {

template <class Parse>
std::string refusal(Parse parse, std::string_view text) {
    try {
        parse(text);
    } catch (const UsageError& e) {
        return e.what();
    }
    return "accepted";
}

void check_refusal(const std::string& message, std::string_view why) {
    CAPTURE(message);
    CHECK(message.find(why) != std::string::npos);
    CHECK(message.find("write for example") != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
}

} // namespace

TEST_CASE("sizes with their units") {
    for (const auto& row : {std::pair<std::string_view, Bytes>{"0", 0},
                            {"1000", 1000},
                            {"1000B", 1000},
                            {"60kB", 60'000},
                            {"60kb", 60'000},
                            {"60KB", 60'000},
                            {"60Kb", 60'000},
                            {"1000b", 1000},
                            {"1k", 1024},
                            {"1K", 1024},
                            {"4m", 4'194'304},
                            {"1kib", 1024},
                            {"1KIB", 1024},
                            {"1kiB", 1024},
                            {"1g", 1'073'741'824},
                            {"1gb", 1'000'000'000},
                            {"60 kB", 60'000},
                            {" 7 ", 7},
                            {"1M", 1'048'576},
                            {"1MB", 1'000'000},
                            {"1.5GB", 1'500'000'000},
                            {"0.1GB", 100'000'000},
                            {"2T", 2'199'023'255'552},
                            {"2TB", 2'000'000'000'000},
                            {"1Ki", 1024},
                            {"8KiB", 8192},
                            {"0.5KiB", 512},
                            {"4Mi", 4'194'304},
                            {"4MiB", 4'194'304},
                            {"1Gi", 1'073'741'824},
                            {"1GiB", 1'073'741'824},
                            {"1Ti", 1'099'511'627'776},
                            {"1TiB", 1'099'511'627'776},
                            {"1.500000000000000000000000kB", 1500},
                            {"0000000000000000000000000000000000000000005", 5},
                            {"9223372036854775807", 9'223'372'036'854'775'807},
                            {"9223372.036854775807TB", 9'223'372'036'854'775'807}}) {
        const auto text = row.first;
        const auto bytes = row.second;
        CAPTURE(text);
        CHECK(parse_bytes(text) == bytes);
    }
}

TEST_CASE("what is no size is refused with the way out") {
    for (const auto& row : {std::pair<std::string_view, std::string_view>{"", "is empty"},
                            {"  ", "is empty"},
                            {"-1", "is negative"},
                            {"-5kB", "is negative"},
                            {"+5", "does not start with a number"},
                            {"kB", "does not start with a number"},
                            {".5kB", "does not start with a number"},
                            {"nan", "does not start with a number"},
                            {"0.5", "is not a whole number of bytes"},
                            {"1.0001kB", "is not a whole number of bytes"},
                            {"0.0000000000000000001TB", "is not a whole number of bytes"},
                            {"1.", "has no digit after the decimal point"},
                            {"1.kB", "has no digit after the decimal point"},
                            {"5Kbit", "unknown unit 'Kbit'"},
                            {"5kk", "unknown unit 'kk'"},
                            {"5ikB", "unknown unit 'ikB'"},
                            {"5s", "unknown unit 's'"},
                            {"1e6", "unknown unit 'e6'"},
                            {"0x10", "unknown unit 'x10'"},
                            {"1 2", "unknown unit '2'"},
                            {"1.2.3", "unknown unit '.3'"},
                            {"5\n", "unknown unit '\\x0a'"},
                            {"9223372036854775808", "is too large"},
                            {"18446744073709551617", "is too large"},
                            {"340282366920938463463374607431768211457", "is too large"},
                            {"8388608TiB", "is too large"},
                            {"9223372.036854775808TB", "is too large"}}) {
        const auto text = row.first;
        const auto why = row.second;
        CAPTURE(text);
        check_refusal(refusal(parse_bytes, text), why);
    }
}

TEST_CASE("durations with their units") {
    for (const auto& row : {std::pair<std::string_view, Nanoseconds>{"60", 60'000'000'000},
                            {"0.5", 500'000'000},
                            {"500ms", 500'000'000},
                            {"2s", 2'000'000'000},
                            {"3min", 180'000'000'000},
                            {"1h", 3'600'000'000'000},
                            {"1.5 h", 5'400'000'000'000},
                            {"10us", 10'000},
                            {"10\u00b5s", 10'000},
                            {"35ns", 35},
                            {"0", 0}}) {
        const auto text = row.first;
        const auto ns = row.second;
        CAPTURE(text);
        CHECK(parse_duration(text) == ns);
    }
}

TEST_CASE("what is no duration is refused with the way out") {
    for (const auto& row : {std::pair<std::string_view, std::string_view>{"", "is empty"},
                            {"-1s", "is negative"},
                            {"soon", "does not start with a number"},
                            {"5m", "unknown unit 'm'"},
                            {"5sec", "unknown unit 'sec'"},
                            {"5kB", "unknown unit 'kB'"},
                            {"1.5ns", "is not a whole number of nanoseconds"},
                            {"9223372037", "is too large"},
                            {"3000000h", "is too large"}}) {
        const auto text = row.first;
        const auto why = row.second;
        CAPTURE(text);
        check_refusal(refusal(parse_duration, text), why);
    }
}

TEST_CASE("sizes for people") {
    for (const auto& row : {std::pair<Bytes, std::string_view>{0, "0 B"},
                            {1, "1 B"},
                            {999, "999 B"},
                            {1000, "1 kB"},
                            {1001, "1.00 kB"},
                            {1024, "1 KiB"},
                            {1500, "1.5 kB"},
                            {8192, "8 KiB"},
                            {60'000, "60 kB"},
                            {64'000, "64 kB"},
                            {128'000, "128 kB"},
                            {262'144, "256 KiB"},
                            {999'499, "999 kB"},
                            {999'500, "1.00 MB"},
                            {1'047'552, "1023 KiB"},
                            {4'194'304, "4 MiB"},
                            {1'234'567'890, "1.23 GB"},
                            {12'345'678'900, "12.3 GB"},
                            {9'223'372'036'854'775'807, "9.22 EB"},
                            {std::numeric_limits<Bytes>::max(), "18.4 EB"}}) {
        const auto bytes = row.first;
        const auto text = row.second;
        CAPTURE(bytes);
        CHECK(format_bytes(bytes) == text);
    }
}

TEST_CASE("a size without rounding is read back as it was") {
    Random random(5);
    int exact = 0;
    for (int i = 0; i < 20'000; ++i) {
        const Bytes bytes = (random.below(1023) + 1) << (10 * random.below(4));
        const std::string text = format_bytes(bytes);
        if (text.find('.') == std::string::npos && text.find("iB") != std::string::npos) {
            CAPTURE(text);
            REQUIRE(parse_bytes(text) == bytes);
            ++exact;
        }
    }
    CHECK(exact > 1000);
}

TEST_CASE("durations for people") {
    for (const auto& row : {std::pair<Nanoseconds, std::string_view>{0, "0 ns"},
                            {999, "999 ns"},
                            {1'234, "1.23 \u00b5s"},
                            {999'499, "999 \u00b5s"},
                            {999'500, "1 ms"},
                            {950'000'000, "950 ms"},
                            {999'500'000, "1 s"},
                            {12'345'000'000, "12.3 s"},
                            {59'949'000'000, "59.9 s"},
                            {59'960'000'000, "1 min 00 s"},
                            {245'000'000'000, "4 min 05 s"},
                            {3'599'499'999'999, "59 min 59 s"},
                            {3'599'500'000'000, "1 h 00 min"},
                            {7'800'000'000'000, "2 h 10 min"},
                            {-950'000'000, "-950 ms"}}) {
        const auto ns = row.first;
        const auto text = row.second;
        CAPTURE(ns);
        CHECK(format_duration(ns) == text);
    }
    CHECK(format_duration(std::numeric_limits<Nanoseconds>::min()) == "-2562047 h 47 min");
}

TEST_CASE("rates have two decimals, or two figures where these hide them") {
    CHECK(format_gbps(35.389) == "35.39");
    CHECK(format_gbps(0.1) == "0.10");
    CHECK(format_gbps(0.0514) == "0.051");
    CHECK(format_gbps(0.00104) == "0.0010");
    CHECK(format_gbps(1.2e-30) == "0.000000000");
    CHECK(format_gbps(0) == "0.00");
}

TEST_CASE("an estimate has two digits") {
    const std::map<Nanoseconds, std::string> cases = {
        {0, "0 ns"},
        {179'400'000, "180 ms"},
        {9'223'000'000, "9.2 s"},
        {99'600'000'000, "1 min 40 s"},
        {112'000'000'000, "1 min 50 s"},
        {781'000'000'000, "13 min"},
        {3'640'000'000'000, "1 h"},
        {45'240'000'000'000, "12 h 30 min"},
    };
    for (const auto& [ns, text] : cases) CHECK(format_estimate(ns) == text);
    CHECK(format_estimate(std::numeric_limits<Nanoseconds>::max()) == "2555555 h 33 min");
}
