// SPDX-License-Identifier: BSD-3-Clause
#include "known_faster.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/units.hpp"
#include "known_settings.hpp"

namespace a2aperf {
namespace {

Bytes limit_of(const KnownFaster& known) {
    const char* text = std::getenv(known.limit);
    if (text == nullptr) return known.above;
    const std::string_view word = text;
    Bytes value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && end == word.data() + word.size() && value > 0 ? value : known.above;
}

bool is_measured(const Row& row, std::string_view mode) {
    return row.result != nullptr && summary_of(row).count > 0 && row.point.mode == mode;
}

// Whether the launch measured a slower mode at a size at which it did not measure the faster one.
bool is_missing(const KnownFaster& known, std::string_view slower, const std::vector<Row>& rows) {
    const Bytes limit = limit_of(known);
    return std::ranges::any_of(rows, [&](const Row& row) {
        if (!is_measured(row, slower) || row.point.largest_transfer() <= limit) return false;
        return std::ranges::none_of(rows, [&](const Row& other) {
            return is_measured(other, known.mode) && other.point.message_size == row.point.message_size;
        });
    });
}

// Of all slower modes of a row that were measured; empty where there is none.
std::string line_of(const KnownFaster& known, const std::vector<Row>& rows) {
    std::vector<std::string_view> slower;
    std::ranges::copy_if(known.than, std::back_inserter(slower),
                         [&](std::string_view mode) { return is_missing(known, mode, rows); });
    if (slower.empty()) return {};
    return fmt::format(
        "above {} {} is known to move more over {} than {}: {} ({}); --mode {},{} compares them here",
        format_bytes(limit_of(known)), known.mode, known.provider, fmt::join(slower, " and "), known.figure,
        known.how, fmt::join(slower, ","), known.mode);
}

} // namespace

std::vector<std::string> known_to_be_faster(std::string_view provider, const std::vector<Row>& rows) {
    std::vector<std::string> lines;
    for (const KnownFaster& known : faster_settings()) {
        if (known.provider != provider) continue;
        if (std::string line = line_of(known, rows); !line.empty()) lines.push_back(std::move(line));
    }
    return lines;
}

} // namespace a2aperf
