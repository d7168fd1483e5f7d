// SPDX-License-Identifier: BSD-3-Clause
// Text that came from outside, made fit for a file that promises UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace a2aperf {

// A line without the blanks and the carriage return around it.
std::string_view trimmed(std::string_view line);

// Length of the well-formed character at the start of text (Unicode 15, table 3-7), 0 when there is none. The text
// is not empty.
std::size_t character_length(std::string_view text);

// The text up to its first NUL, with U+FFFD for every byte that is not UTF-8.
std::string valid_utf8(std::string_view text);

// At most `bytes` bytes of valid UTF-8, cut between characters; what was cut is told by "…" at the end.
// bytes >= 3.
std::string cut_utf8(std::string_view text, std::size_t bytes);

} // namespace a2aperf
