// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/size_list.hpp"

#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"

namespace a2aperf {
namespace {

constexpr std::size_t kMostSizes = 10'000;

[[noreturn]] void refuse(std::string_view noun, std::string_view text, std::string_view why,
                         std::string_view way_out) {
    throw UsageError(fmt::format("{} {} {}: {}", noun, quote(text), why, way_out));
}

// Distinct sizes in the order in which they came.
class SizeList {
public:
    explicit SizeList(std::string_view text) : text_(text) {}

    void add(Bytes size) {
        if (!seen_.insert(size).second) return;
        if (sizes_.size() == kMostSizes) {
            refuse("sizes", text_, fmt::format("are more than {}", kMostSizes), "take a larger step or factor");
        }
        sizes_.push_back(size);
    }

    std::vector<Bytes> take() { return std::move(sizes_); }

private:
    std::string_view text_;
    std::vector<Bytes> sizes_;
    std::unordered_set<Bytes> seen_;
};

Bytes parse_size(std::string_view text, Bytes least = 1) {
    const Bytes size = parse_bytes(text);
    if (size < least) refuse("size", text, "is zero", "a message has at least 1 byte");
    return size;
}

void add_arithmetic(SizeList& list, Bytes low, Bytes high, Bytes step) {
    for (Bytes size = low;; size += step) {
        list.add(size);
        if (high - size < step) return;
    }
}

void add_geometric(SizeList& list, Bytes low, Bytes high, Bytes factor) {
    for (Bytes size = low;; size *= factor) {
        list.add(size);
        if (size > high / factor) return;
    }
}

Bytes parse_factor(std::string_view range, std::string_view text) {
    constexpr std::string_view kWayOut = "write a whole number from 2, for example 1KiB..4MiB*2";
    const bool is_plain = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    if (!is_plain) refuse("range", range, fmt::format("has the factor {}", quote(text)), kWayOut);
    const Bytes factor = parse_bytes(text);
    if (factor < 2) refuse("range", range, fmt::format("has the factor {}", factor), kWayOut);
    return factor;
}

void add_range(SizeList& list, std::string_view range, std::size_t dots, Bytes least) {
    const std::size_t sign = range.find_first_of("+*", dots);
    if (sign == std::string_view::npos) {
        refuse("range", range, "has no step", "add +STEP or *FACTOR, for example 1000..15000+1000 or 1KiB..4MiB*2");
    }
    if (range[sign] == '*') least = 1; // no factor leads on from 0
    const Bytes low = parse_size(range.substr(0, dots), least);
    const Bytes high = parse_size(range.substr(dots + 2, sign - dots - 2), least);
    if (low > high) refuse("range", range, "is reversed", "write the smaller end first");
    const std::string_view increment = range.substr(sign + 1);
    if (range[sign] == '*') return add_geometric(list, low, high, parse_factor(range, increment));
    const Bytes step = parse_bytes(increment);
    if (step == 0) refuse("range", range, "has a step of 0", "write a step of at least 1 byte");
    add_arithmetic(list, low, high, step);
}

void add_item(SizeList& list, std::string_view text, std::string_view item, Bytes least) {
    if (item.find_first_not_of(' ') == std::string_view::npos) {
        refuse("sizes", text, item.size() == text.size() ? "are empty" : "have an empty item",
               "write for example 1000,60kB or 1000..15000+1000");
    }
    const std::size_t dots = item.find("..");
    if (dots != std::string_view::npos) return add_range(list, item, dots, least);
    if (item.find_first_of(":-", 1) != std::string_view::npos) {
        refuse("size", item, "looks like a range", "write LOW..HIGH+STEP or LOW..HIGH*FACTOR");
    }
    list.add(parse_size(item, least));
}

} // namespace

std::vector<Bytes> parse_sizes(std::string_view text, Bytes least) {
    SizeList list(text);
    std::size_t begin = 0;
    while (true) {
        const std::size_t end = text.find(',', begin);
        add_item(list, text, text.substr(begin, end == std::string_view::npos ? end : end - begin), least);
        if (end == std::string_view::npos) return list.take();
        begin = end + 1;
    }
}

std::vector<Bytes> parse_osu_sizes(std::string_view text) {
    const std::size_t colon = text.find(':');
    const bool has_low = colon != std::string_view::npos;
    const Bytes low = has_low ? parse_size(text.substr(0, colon)) : 1;
    const Bytes high = parse_size(has_low ? text.substr(colon + 1) : text);
    if (low > high) refuse("range", text, "is reversed", "write MIN:MAX with the smaller one first");
    SizeList list(text);
    add_geometric(list, low, high, 2);
    return list.take();
}

} // namespace a2aperf
