// SPDX-License-Identifier: BSD-3-Clause
// The last 64 bytes of a finished file: a checksum of all before them (docs/file-format.md). HDF5 takes no notice
// of bytes behind its end, and whoever changes a file by it cuts them off.
#pragma once

#include <filesystem>

namespace a2aperf {

enum class Trailer { none, right, wrong };

// Reads the file wholly where it has one. What cannot be read is wrong.
Trailer look_at_trailer(const std::filesystem::path& file);

// Of a file that has none. Throws std::system_error.
void append_trailer(const std::filesystem::path& file);

} // namespace a2aperf
