// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/base/utf8.hpp"

#include <algorithm>

namespace a2aperf {
namespace {

bool is_continuation(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

} // namespace

std::string_view trimmed(std::string_view line) {
    constexpr std::string_view kBlank = " \t\r";
    const std::size_t first = line.find_first_not_of(kBlank);
    if (first == std::string_view::npos) return {};
    return line.substr(first, line.find_last_not_of(kBlank) - first + 1);
}

std::size_t character_length(std::string_view text) {
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = at(0);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if (!is_continuation(text[i])) return 0;
    // Overlong forms, surrogates and what lies above U+10FFFF differ in the second byte only.
    const unsigned second = at(1);
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) ||
        (first == 0xF4 && second > 0x8F))
        return 0;
    return length;
}

std::string valid_utf8(std::string_view text) {
    constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
    std::string valid;
    valid.reserve(text.size());
    while (!text.empty() && text.front() != '\0') {
        const std::size_t length = character_length(text);
        valid += length > 0 ? text.substr(0, length) : kReplacement;
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return valid;
}

std::string cut_utf8(std::string_view text, std::size_t bytes) {
    constexpr std::string_view kCut = "…";
    std::string valid = valid_utf8(text);
    if (valid.size() <= bytes) return valid;
    std::size_t end = bytes - kCut.size();
    while (end > 0 && is_continuation(valid[end])) --end;
    return valid.substr(0, end).append(kCut);
}

} // namespace a2aperf
