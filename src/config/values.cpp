// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/config/values.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace a2aperf {
namespace {

// The whole text as a number; false when it is anything else.
template <class T>
bool read_number(std::string_view text, T& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size();
}

constexpr std::string_view kNameCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";

// What a shell takes as it stands.
constexpr std::string_view kPlainInShell =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.,/:=+@%";

} // namespace

std::int64_t parse_count(std::string_view text, std::int64_t low, std::int64_t high) {
    std::int64_t value = 0;
    if (!read_number(text, value) || value < low || value > high)
        throw UsageError(fmt::format("{} is not a whole number from {} to {}", quote(text), low, high));
    return value;
}

int parse_int(std::string_view text, int low, int high) {
    return static_cast<int>(parse_count(text, low, high));
}

std::uint64_t parse_seed(std::string_view text) {
    std::uint64_t value = 0;
    if (!read_number(text, value))
        throw UsageError(fmt::format("{} is not a whole number from 0 to 2^64-1", quote(text)));
    return value;
}

double parse_share(std::string_view text) {
    std::string_view number = text;
    const bool is_percent = number.ends_with('%');
    if (is_percent) {
        number.remove_suffix(1);
        while (number.ends_with(' ')) number.remove_suffix(1);
    }
    double value = 0;
    const bool is_number = read_number(number, value) && std::isfinite(value);
    if (is_percent) value /= 100;
    if (!is_number || value < 0.0001 || value > 0.5)
        throw UsageError(fmt::format("{} is not a share from 0.01% to 50%", quote(text)));
    return value;
}

double parse_gbps(std::string_view text) {
    constexpr double kMostGbps = 1e6;
    constexpr std::pair<std::string_view, double> kUnits[] = {
        {"kbit/s", 1e-6}, {"mbit/s", 1e-3}, {"gbit/s", 1}, {"tbit/s", 1e3}, {"bit/s", 1e-9}};
    std::string small(text);
    for (char& c : small)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    std::string_view number = small;
    double factor = 1;
    for (const auto& [unit, gbps] : kUnits) {
        if (!number.ends_with(unit)) continue;
        number.remove_suffix(unit.size());
        while (number.ends_with(' ')) number.remove_suffix(1);
        factor = gbps;
        break;
    }
    double value = 0;
    const bool is_number = read_number(number, value) && std::isfinite(value);
    if (!is_number || !(value * factor > 0) || value * factor > kMostGbps)
        throw UsageError(
            fmt::format("{} is not a rate above zero, up to {:.0f} Gbit/s: write for example 100 (Gbit/s), "
                        "100Gbit/s or 200Mbit/s",
                        quote(text), kMostGbps));
    return value * factor;
}

bool parse_switch(std::string_view text) {
    return choose<bool>("flag value", text,
                        {{"true", true},
                         {"false", false},
                         {"yes", true},
                         {"no", false},
                         {"on", true},
                         {"off", false},
                         {"1", true},
                         {"0", false}});
}

Assignment parse_assignment(std::string_view text) {
    const std::size_t at = text.find('=');
    if (at == std::string_view::npos) throw UsageError(fmt::format("{} is not NAME=VALUE", quote(text)));
    const std::string_view name = text.substr(0, at);
    if (name.empty() || name.find_first_not_of(kNameCharacters) != std::string_view::npos)
        throw UsageError(fmt::format("{} is not a name (letters, digits, '_', '-', '.')", quote(name)));
    return {std::string(name), std::string(text.substr(at + 1))};
}

std::vector<std::pair<std::string, std::string>> parse_assignments(std::span<const std::string> texts) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const std::string& text : texts) {
        Assignment given = parse_assignment(text);
        const bool is_there =
            std::any_of(pairs.begin(), pairs.end(), [&](const auto& p) { return p.first == given.name; });
        if (is_there) throw UsageError(fmt::format("{} is given twice", quote(given.name)));
        pairs.emplace_back(std::move(given.name), std::move(given.value));
    }
    return pairs;
}

Nanoseconds parse_positive_duration(std::string_view text) {
    const Nanoseconds duration = parse_duration(text);
    if (duration <= 0) throw UsageError(fmt::format("{} is not a time above zero", quote(text)));
    return duration;
}

namespace {

// Of the parenthesis that opens there; npos where none closes it.
std::size_t closing_of(std::string_view text, std::size_t open) {
    int depth = 0;
    for (std::size_t at = open; at < text.size(); ++at) {
        if (text[at] == '(') ++depth;
        if (text[at] == ')' && --depth == 0) return at;
    }
    return std::string_view::npos;
}

// The end of the first item: of commas the first that is in no parentheses. One that is not closed is a character
// like any other, as in the name of a file.
std::size_t item_end(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == ',') return at;
        if (text[at] != '(') continue;
        if (const std::size_t close = closing_of(text, at); close != std::string_view::npos) at = close;
    }
    return std::string_view::npos;
}

} // namespace

std::vector<std::string> split_list(std::span<const std::string> texts) {
    std::vector<std::string> items;
    for (const std::string& text : texts) {
        std::string_view rest = text;
        while (true) {
            const std::size_t comma = item_end(rest);
            const std::string item(rest.substr(0, comma));
            if (item.empty()) throw UsageError(fmt::format("empty item in {}", quote(text)));
            if (std::find(items.begin(), items.end(), item) == items.end()) items.push_back(item);
            if (comma == std::string_view::npos) break;
            rest.remove_prefix(comma + 1);
        }
    }
    return items;
}

std::string join_for_shell(std::span<const char* const> words) {
    std::string line;
    for (const std::string_view word : words) {
        if (!line.empty()) line += ' ';
        if (!word.empty() && word.find_first_not_of(kPlainInShell) == std::string_view::npos) {
            line += word;
            continue;
        }
        line += '\'';
        for (const char c : word) {
            if (c == '\'') {
                line += R"('\'')";
            } else {
                line += c;
            }
        }
        line += '\'';
    }
    return line;
}

} // namespace a2aperf
