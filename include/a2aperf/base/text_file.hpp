// SPDX-License-Identifier: BSD-3-Clause
// A text in a file that the user names.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

// The whole of a regular file of up to so many bytes. Whatever stands at that name, it neither waits nor reads
// without end. Throws UsageError, which names the option and the file: missing, unreadable, of another kind, too
// large.
std::string read_text_file(std::string_view option, const std::filesystem::path& file, Bytes most);

} // namespace a2aperf
