// SPDX-License-Identifier: BSD-3-Clause
// What a provider allows of a stream.
#pragma once

#include <optional>
#include <string>

#include "a2aperf/fabric/offer.hpp"
#include "a2aperf/plan/point.hpp"

namespace a2aperf {

// Do its messages go by the provider's inject path? They complete nowhere then, whatever the window.
bool injects_stream(const Offer& offer, const Point& point);

// Why the provider cannot do what a stream asks for; nothing when it can.
std::optional<std::string> stream_trouble(const Offer& offer, const Point& point);

} // namespace a2aperf
