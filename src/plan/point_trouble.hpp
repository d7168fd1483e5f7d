// SPDX-License-Identifier: BSD-3-Clause
// Why a point makes no sense over any provider: what needs neither a fabric nor its memory to be known.
#pragma once

#include <optional>
#include <string>

#include "a2aperf/plan/layout.hpp"
#include "a2aperf/plan/point.hpp"

namespace a2aperf {

// Of a point that is made of ops; nothing where there is no trouble.
std::optional<std::string> point_trouble(const Point& point, const Layout& layout);

} // namespace a2aperf
