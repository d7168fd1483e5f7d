// SPDX-License-Identifier: BSD-3-Clause
// The one way to stdout and stderr. What is said may come out of a file that anybody made, from another host or
// from the environment: nothing in it acts on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace a2aperf {

// The text with control characters, bytes that are not UTF-8, and characters that have no width or turn the
// direction of writing, as \xNN byte by byte. Letters of any script stay.
std::string visible(std::string_view text);

// Results, on stdout: whole lines, each of which is ours. False where nobody can be told.
bool say(std::string_view lines);

// One line on stderr, whatever the text has in it.
void tell(std::string_view line);

// What went wrong: "a2aperf: TEXT".
void complain(std::string_view text) noexcept;

} // namespace a2aperf
