// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/size_list.hpp"

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "number_list.hpp"

namespace a2aperf {
namespace {

constexpr NumberKind kSizes{.one = "size",
                            .all = "sizes",
                            .of_nothing = "a message has at least 1 byte",
                            .least_step = "1 byte",
                            .arithmetic = "1000..15000+1000",
                            .geometric = "1KiB..4MiB*2",
                            .list = "1000,60kB or 1000..15000+1000",
                            .parse = parse_bytes};

} // namespace

std::vector<Bytes> parse_sizes(std::string_view text, Bytes least) {
    return parse_numbers(kSizes, text, least);
}

std::vector<Bytes> parse_osu_sizes(std::string_view text) {
    const std::size_t colon = text.find(':');
    const bool has_low = colon != std::string_view::npos;
    const Bytes low = has_low ? parse_number(kSizes, text.substr(0, colon), 1) : 1;
    const Bytes high = parse_number(kSizes, has_low ? text.substr(colon + 1) : text, 1);
    if (low > high)
        throw UsageError(
            fmt::format("range {} is reversed: write MIN:MAX with the smaller one first", quote(text)));
    std::vector<Bytes> sizes;
    for (Bytes size = low;; size *= 2) {
        sizes.push_back(size);
        if (size > high / 2) return sizes;
    }
}

} // namespace a2aperf
