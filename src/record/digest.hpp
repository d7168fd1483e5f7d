// SPDX-License-Identifier: BSD-3-Clause
// Of what does not change once a file is made: its structure, what was asked, who measured (docs/file-format.md).
#pragma once

#include <cstdint>

#include "h5.hpp"

namespace a2aperf {

// h5::Unreadable where a part of it cannot be read.
std::int64_t digest_of(const h5::File& file);

} // namespace a2aperf
