// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/base/error.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <new>
#include <numeric>
#include <vector>

#include <fmt/format.h>

namespace a2aperf {
namespace {

// Optimal string alignment distance (insert, delete, replace, swap of neighbours): what typing errors are.
std::size_t typing_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> above(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(above.begin(), above.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
            const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (is_swap) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(above);
        above.swap(row);
    }
    return above[b.size()];
}

} // namespace

Interrupted::Interrupted(int signal_number)
    : std::runtime_error(fmt::format("interrupted by signal {} ({})", signal_number, strsignal(signal_number))),
      signal_number_(signal_number) {}

std::string words_of(const std::exception& error) {
    return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ? "out of memory" : error.what();
}

std::string printable(std::string_view text) {
    constexpr std::string_view kHexDigits = "0123456789abcdef";
    std::string shown;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte >= 0x7f) {
            shown += "\\x";
            shown += kHexDigits[byte / 16];
            shown += kHexDigits[byte % 16];
        } else {
            shown += c;
        }
    }
    return shown;
}

std::string quote(std::string_view text) {
    constexpr std::size_t kLongest = 60;
    return fmt::format("'{}{}", printable(text.substr(0, kLongest)), text.size() > kLongest ? "...'" : "'");
}

std::string_view nearest_word(std::string_view given, std::span<const std::string_view> known) {
    constexpr std::size_t kLongestTypo = 64;
    if (given.size() > kLongestTypo) return {};
    std::string_view best;
    std::size_t best_distance = given.size() / 3 + 1; // a third of the letters may be wrong, one always
    for (const std::string_view word : known) {
        const std::size_t distance = typing_distance(given, word);
        const bool is_nearer = best.empty() ? distance <= best_distance : distance < best_distance;
        if (!is_nearer || distance >= word.size()) continue;
        best = word;
        best_distance = distance;
    }
    return best;
}

void throw_unknown(std::string_view noun, std::string_view given, std::span<const std::string_view> known) {
    std::string message = fmt::format("unknown {} {}: expected one of", noun, quote(given));
    std::string_view separator = " ";
    for (const std::string_view word : known) {
        message += separator;
        message += word;
        separator = ", ";
    }
    const std::string_view meant = nearest_word(given, known);
    if (!meant.empty()) message += fmt::format(" (did you mean {}?)", meant);
    throw UsageError(message);
}

} // namespace a2aperf
