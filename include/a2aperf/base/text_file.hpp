// SPDX-License-Identifier: BSD-3-Clause
// A text in a file that the user names, or that the system tells in one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

// The whole text of a regular file of up to so many bytes, without the mark that some editors and spreadsheets put
// before UTF-8. Whatever stands at that name, it neither waits nor reads without end. Throws UsageError, which
// names the option and the file: missing, unreadable, of another kind, too large.
std::string read_text_file(std::string_view option, const std::filesystem::path& file, Bytes most);

// The same byte for byte, of a file that has no NUL: with one it is not a text file.
std::string read_plain_text(std::string_view option, const std::filesystem::path& file, Bytes most);

// A whole new file of this text, by way of .NAME.partial beside it; no link is followed. Throws std::system_error;
// where something has the name already and it may not be replaced, with EEXIST.
void write_text_file(const std::filesystem::path& file, std::string_view text, bool may_replace);

// Of a file of /proc or /sys; empty where there is none.
std::string first_line(const std::filesystem::path& file);

} // namespace a2aperf
