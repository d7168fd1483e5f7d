// SPDX-License-Identifier: BSD-3-Clause
// A copy of all that a results file has beside its measurements: HDF5's own structure, what was asked, who measured
// (docs/file-format.md). It is found without HDF5, and laid over a file whose structure is damaged by
// `a2a check --repair`. HDF5 takes it for space of the file that nothing uses.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "h5.hpp"

namespace a2aperf {

// Where in a file the values are that change while a launch measures; nothing of one with very many chunks.
std::optional<std::vector<h5::Extent>> places_of_measurements(const h5::File& file);

// Puts the copy behind the end of a file that is closed: all of it but the measurements. Throws std::system_error.
void append_skeleton(const std::filesystem::path& file, std::vector<h5::Extent> measurements);

} // namespace a2aperf
