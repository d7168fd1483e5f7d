// SPDX-License-Identifier: BSD-3-Clause
// The axis of message sizes (src/plan/size_list.cpp).
#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/plan/size_list.hpp"
#include "property.hpp"

using namespace a2aperf;
using fuzz::is_accepted;
using fuzz::require;

namespace {

constexpr std::size_t kMostSizes = 10'000;

void check_each(const std::vector<Bytes>& sizes) {
    require(!sizes.empty() && sizes.size() <= kMostSizes, "1 to 10000 sizes", fmt::to_string(sizes.size()));
    const std::unordered_set<Bytes> distinct(sizes.begin(), sizes.end());
    require(distinct.size() == sizes.size(), "sizes are distinct");
    const auto [low, high] = std::minmax_element(sizes.begin(), sizes.end());
    require(*low >= 1, "a message has at least 1 byte");
    require(*high <= static_cast<Bytes>(std::numeric_limits<std::int64_t>::max()), "a size is at most 2^63 - 1");
}

// A list is what its items are, one after the other, doubles dropped.
void check_items(std::string_view text, const std::vector<Bytes>& sizes) {
    std::vector<Bytes> expected;
    std::unordered_set<Bytes> seen;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::vector<Bytes> item = parse_sizes(text.substr(begin, end - begin));
        require(std::is_sorted(item.begin(), item.end()), "a range ascends");
        for (const Bytes size : item)
            if (seen.insert(size).second) expected.push_back(size);
        begin = end + 1;
    }
    require(sizes == expected, "a list is the sum of its items");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    std::vector<Bytes> sizes;
    if (is_accepted([&] { sizes = parse_sizes(text); })) {
        check_each(sizes);
        check_items(text, sizes);
        require(parse_sizes(fmt::format("{}", fmt::join(sizes, ","))) == sizes, "sizes written out are the same");
    }
    if (is_accepted([&] { sizes = parse_osu_sizes(text); })) {
        check_each(sizes);
        for (std::size_t i = 1; i < sizes.size(); ++i)
            require(sizes[i] == 2 * sizes[i - 1], "OSU's sizes are doubles");
    }
    return 0;
}
