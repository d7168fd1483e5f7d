// SPDX-License-Identifier: BSD-3-Clause
// Lists of whole numbers as people write them, of whatever they are.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace a2aperf {

// What such a list is of, for what is said where it is none.
struct NumberKind {
    std::string_view one, all;                     // "size", "sizes"
    std::string_view of_nothing;                   // why one is not zero: "a message has at least 1 byte"
    std::string_view least_step;                   // "1 byte"
    std::string_view arithmetic;                   // an example of a range: "1000..15000+1000"
    std::string_view geometric;                    // "1KiB..4MiB*2"
    std::string_view list;                         // "1000,60kB or 1000..15000+1000"
    std::uint64_t (*parse)(std::string_view text); // throws UsageError
};

// One of them, from `least` (1 or 0) on. Throws UsageError.
std::uint64_t parse_number(const NumberKind& kind, std::string_view text, std::uint64_t least);

// Items separated by commas: single ones, LOW..HIGH+STEP and LOW..HIGH*FACTOR. A range begins at its lower end and
// does not pass its upper one. Order is kept, doubles are dropped. Throws UsageError: zero (unless least is 0),
// reversed, a step of 0 or a factor below 2, more than 10000 of them, and whatever `parse` refuses.
std::vector<std::uint64_t> parse_numbers(const NumberKind& kind, std::string_view text, std::uint64_t least);

} // namespace a2aperf
