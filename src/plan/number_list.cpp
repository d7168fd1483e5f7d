// SPDX-License-Identifier: BSD-3-Clause
#include "number_list.hpp"

#include <charconv>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"

namespace a2aperf {
namespace {

constexpr std::size_t kMost = 10'000;

[[noreturn]] void refuse(std::string_view noun, std::string_view text, std::string_view why,
                         std::string_view way_out) {
    throw UsageError(fmt::format("{} {} {}: {}", noun, quote(text), why, way_out));
}

// Distinct numbers in the order in which they came.
class NumberList {
public:
    NumberList(const NumberKind& kind, std::string_view text, std::uint64_t least)
        : kind_(kind), text_(text), least_(least) {}

    void add_item(std::string_view item) {
        if (item.find_first_not_of(' ') == std::string_view::npos) {
            refuse(kind_.all, text_, item.size() == text_.size() ? "are empty" : "have an empty item",
                   fmt::format("write for example {}", kind_.list));
        }
        const std::size_t dots = item.find("..");
        if (dots != std::string_view::npos) return add_range(item, dots);
        if (item.find_first_of(":-", 1) != std::string_view::npos) {
            refuse(kind_.one, item, "looks like a range", "write LOW..HIGH+STEP or LOW..HIGH*FACTOR");
        }
        add(parse_number(kind_, item, least_));
    }

    std::vector<std::uint64_t> take() { return std::move(numbers_); }

private:
    void add(std::uint64_t number) {
        if (!seen_.insert(number).second) return;
        if (numbers_.size() == kMost) {
            refuse(kind_.all, text_, fmt::format("are more than {}", kMost), "take a larger step or factor");
        }
        numbers_.push_back(number);
    }

    void add_arithmetic(std::uint64_t low, std::uint64_t high, std::uint64_t step) {
        for (std::uint64_t number = low;; number += step) {
            add(number);
            if (high - number < step) return;
        }
    }

    void add_geometric(std::uint64_t low, std::uint64_t high, std::uint64_t factor) {
        for (std::uint64_t number = low;; number *= factor) {
            add(number);
            if (number > high / factor) return;
        }
    }

    std::uint64_t parse_factor(std::string_view range, std::string_view text) const {
        const std::string way_out = fmt::format("write a whole number from 2, for example {}", kind_.geometric);
        std::uint64_t factor = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
        if (error == std::errc::result_out_of_range)
            refuse("range", range, fmt::format("has the factor {}, which is too large", quote(text)), way_out);
        if (error != std::errc() || end != text.data() + text.size())
            refuse("range", range, fmt::format("has the factor {}", quote(text)), way_out);
        if (factor < 2) refuse("range", range, fmt::format("has the factor {}", factor), way_out);
        return factor;
    }

    void add_range(std::string_view range, std::size_t dots) {
        const std::size_t sign = range.find_first_of("+*", dots);
        if (sign == std::string_view::npos) {
            refuse("range", range, "has no step",
                   fmt::format("add +STEP or *FACTOR, for example {} or {}", kind_.arithmetic, kind_.geometric));
        }
        const std::uint64_t least = range[sign] == '*' ? 1 : least_; // no factor leads on from 0
        const std::uint64_t low = parse_number(kind_, range.substr(0, dots), least);
        const std::uint64_t high = parse_number(kind_, range.substr(dots + 2, sign - dots - 2), least);
        if (low > high) refuse("range", range, "is reversed", "write the smaller end first");
        const std::string_view increment = range.substr(sign + 1);
        if (range[sign] == '*') return add_geometric(low, high, parse_factor(range, increment));
        const std::uint64_t step = kind_.parse(increment);
        if (step == 0)
            refuse("range", range, "has a step of 0", fmt::format("write a step of at least {}", kind_.least_step));
        add_arithmetic(low, high, step);
    }

    const NumberKind& kind_;
    std::string_view text_;
    std::uint64_t least_;
    std::vector<std::uint64_t> numbers_;
    std::unordered_set<std::uint64_t> seen_;
};

} // namespace

std::uint64_t parse_number(const NumberKind& kind, std::string_view text, std::uint64_t least) {
    const std::uint64_t number = kind.parse(text);
    if (number < least) refuse(kind.one, text, "is zero", kind.of_nothing);
    return number;
}

std::vector<std::uint64_t> parse_numbers(const NumberKind& kind, std::string_view text, std::uint64_t least) {
    NumberList list(kind, text, least);
    std::size_t begin = 0;
    while (true) {
        const std::size_t end = text.find(',', begin);
        list.add_item(text.substr(begin, end == std::string_view::npos ? end : end - begin));
        if (end == std::string_view::npos) return list.take();
        begin = end + 1;
    }
}

} // namespace a2aperf
