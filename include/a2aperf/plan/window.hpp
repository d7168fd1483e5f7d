// SPDX-License-Identifier: BSD-3-Clause
// How many messages of a rank may be under way at once, as one asks for it: all, so many, or so many bytes.
#pragma once

#include <string>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

struct Window {
    int messages = 0; // 0 = all, or as many as the bytes make
    Bytes bytes = 0;  // 0: asked for in messages

    bool operator==(const Window&) const = default;

    // In force for messages of this size: as many as fit the bytes, one at least and a million at most; 0 = all.
    int of(Bytes message_size) const;
    // As on the command line: "all", "8", "256KiB".
    std::string text() const;
};

} // namespace a2aperf
