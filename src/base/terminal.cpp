// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/base/terminal.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <utility>

#include "a2aperf/base/utf8.hpp"

namespace a2aperf {
namespace {

char32_t character_of(std::string_view bytes) {
    const auto first = static_cast<unsigned char>(bytes.front());
    if (bytes.size() == 1) return first;
    char32_t found = first & (0x7FU >> bytes.size());
    for (const char byte : bytes.substr(1)) found = found << 6U | (static_cast<unsigned char>(byte) & 0x3FU);
    return found;
}

// Unicode's categories Cc, Cf, Zl and Zp, as of its version 16.
bool is_unseen(char32_t character) {
    using Range = std::pair<char32_t, char32_t>;
    constexpr std::array<Range, 21> kUnseen{
        {{0x00, 0x1F},       {0x7F, 0x9F},       {0xAD, 0xAD},       {0x600, 0x605},     {0x61C, 0x61C},
         {0x6DD, 0x6DD},     {0x70F, 0x70F},     {0x890, 0x891},     {0x8E2, 0x8E2},     {0x180E, 0x180E},
         {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},   {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB},
         {0x110BD, 0x110BD}, {0x110CD, 0x110CD}, {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
         {0xE0000, 0xE007F}}};
    return std::any_of(kUnseen.begin(), kUnseen.end(),
                       [&](const Range& range) { return range.first <= character && character <= range.second; });
}

void escape(std::string& shown, std::string_view bytes) {
    constexpr std::string_view kHexDigits = "0123456789abcdef";
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        shown += "\\x";
        shown += kHexDigits[byte / 16];
        shown += kHexDigits[byte % 16];
    }
}

} // namespace

std::string visible(std::string_view text) {
    std::string shown;
    shown.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = character_length(text);
        const std::string_view bytes = text.substr(0, std::max<std::size_t>(length, 1));
        if (length == 0 || is_unseen(character_of(bytes)))
            escape(shown, bytes);
        else
            shown += bytes;
        text.remove_prefix(bytes.size());
    }
    return shown;
}

bool say(std::string_view lines) {
    std::string shown;
    for (std::size_t end = lines.find('\n'); end != std::string_view::npos; end = lines.find('\n')) {
        shown += visible(lines.substr(0, end)) + "\n";
        lines.remove_prefix(end + 1);
    }
    shown += visible(lines);
    const bool is_said = std::fwrite(shown.data(), 1, shown.size(), stdout) == shown.size();
    return std::fflush(stdout) == 0 && is_said;
}

void tell(std::string_view line) {
    const std::string shown = visible(line) + "\n";
    std::fwrite(shown.data(), 1, shown.size(), stderr);
}

void complain(std::string_view text) noexcept {
    try {
        tell("a2aperf: " + std::string(text));
    } catch (const std::exception&) { // without memory for the words
        std::fputs("a2aperf: failed\n", stderr);
    }
}

} // namespace a2aperf
