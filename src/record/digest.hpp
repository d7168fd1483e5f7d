// SPDX-License-Identifier: BSD-3-Clause
// Of what does not change once a file is made: its structure, what was asked, who measured (docs/file-format.md).
#pragma once

#include <cstdint>
#include <string>

#include "h5.hpp"

namespace a2aperf {

// Whether the values of a dataset belong to it. path: "/segments/0/nodes", name: "nodes".
bool never_changes(const h5::Dataset& dataset, const std::string& path, const std::string& name);

// h5::Unreadable where a part of it cannot be read.
std::int64_t digest_of(const h5::File& file);

} // namespace a2aperf
