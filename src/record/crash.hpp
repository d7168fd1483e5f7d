// SPDX-License-Identifier: BSD-3-Clause
// HDF5 can crash on a damaged file.
#pragma once

#include <filesystem>
#include <functional>

namespace a2aperf {

// Has a process of its own read the file first: UsageError where that one dies of it, or has not ended after so
// many seconds. What `read` throws is told by whoever reads the file afterwards, and not here. Before MPI is
// started, which a process may not be forked from after.
void require_no_crash(const std::filesystem::path& file, const std::function<void()>& read, unsigned limit_s);

// Ten minutes, and a second more for each MB of the file.
unsigned longest_read_s(const std::filesystem::path& file);

} // namespace a2aperf
