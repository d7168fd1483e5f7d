// SPDX-License-Identifier: BSD-3-Clause
// What a launch that resumes a file was asked for beside its plan, compared with the launch before: the table of
// docs/file-format.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "a2aperf/result/provenance.hpp"
#include "segment_group.hpp"

namespace a2aperf {

// The first setting that must be the same and is not: "it was measured with --ops 100 and this launch has --ops 5".
// What an older file does not say, and what this launch does not, agrees.
std::optional<std::string> setting_that_differs(const SegmentGroup& before, const Provenance& here);

// What may differ and the user should know. Both launches' are in their segments.
std::vector<std::string> tell_settings(const SegmentGroup& before, const Provenance& here,
                                       bool is_memory_limit_asked);

} // namespace a2aperf
