// SPDX-License-Identifier: BSD-3-Clause
// What a newer program of the same schema version has put into a file beside what this one knows: a copy keeps it,
// or there is no copy.
#pragma once

#include <optional>
#include <string>

#include "a2aperf/record/columns.hpp"
#include "a2aperf/record/group_declaration.hpp"
#include "h5.hpp"

namespace a2aperf {

// Both throw UsageError that names what a copy would lose. path: what to call the file.
// Columns of the points, what is in /raw, /counters and /segments, and words of an enumeration.
void require_known_members(const h5::File& file, const std::string& path, const Schema& schema);
// Groups beside those that every file has, and what is in the declared one.
void require_known_groups(const h5::File& file, const Schema& schema,
                          const std::optional<GroupDeclaration>& declared);

// Attributes that only `from` has, of itself and of all that both have below it.
void copy_attributes(const h5::Group& from, const h5::Group& to);

} // namespace a2aperf
