// SPDX-License-Identifier: BSD-3-Clause
// Words of the command line as values. All throw UsageError that says what is wrong and what would be right;
// the caller adds the option's name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/units.hpp"

namespace a2aperf {

// One of a few words: choose<Sync>("sync", text, {{"auto", Sync::automatic}, …}).
template <class T>
T choose(std::string_view noun, std::string_view text,
         std::initializer_list<std::pair<std::string_view, T>> known) {
    for (const auto& [word, value] : known)
        if (word == text) return value;
    std::vector<std::string_view> words;
    for (const auto& entry : known) words.push_back(entry.first);
    throw_unknown(noun, text, words);
}

// A whole number, low <= n <= high.
std::int64_t parse_count(std::string_view text, std::int64_t low, std::int64_t high);
int parse_int(std::string_view text, int low, int high);

// 0 to 2^64 - 1.
std::uint64_t parse_seed(std::string_view text);

// "1%", "0.5 %" or "0.01" as a share of 1; from 0.01 % to 50 %.
double parse_share(std::string_view text);

// "100", "100Gbit/s" or "200 Mbit/s" in Gbit/s: above zero, at most 1000000; bit/s, k, M, G and T, in small
// letters, too.
double parse_gbps(std::string_view text);

// true, yes, on, 1 and their opposites: a flag in a --config file.
bool parse_switch(std::string_view text);

struct Assignment {
    std::string name;
    std::string value;
};

// "NAME=VALUE" at the first '='; a name is letters, digits, '_', '-' and '.'. The value may be empty.
Assignment parse_assignment(std::string_view text);
// Several of them, in which a name may come once.
std::vector<std::pair<std::string, std::string>> parse_assignments(std::span<const std::string> texts);

// A duration above zero.
Nanoseconds parse_positive_duration(std::string_view text);

// "a,b" and "c" give a, b, c; an empty item is an error. A comma in parentheses that are closed divides
// nothing. Doubles are dropped, order is kept.
std::vector<std::string> split_list(std::span<const std::string> texts);

// The values of such a list: of items that mean the same the first. parse: of an item.
template <class Parse>
auto each_once(std::span<const std::string> texts, Parse parse) {
    std::vector<decltype(parse(std::string()))> values;
    for (const std::string& text : split_list(texts))
        if (auto value = parse(text); std::find(values.begin(), values.end(), value) == values.end())
            values.push_back(std::move(value));
    return values;
}

// As one would type it again in a shell.
std::string join_for_shell(std::span<const char* const> words);

} // namespace a2aperf
