// SPDX-License-Identifier: BSD-3-Clause
// What the completion of a send means, and which providers tell it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "a2aperf/fabric/offer.hpp"
#include "a2aperf/plan/stream_plan.hpp"

namespace a2aperf {

std::uint64_t flag_of(CompletionLevel level); // libfabric's, of an operation; 0 = the provider's own level

// Why a provider does not tell it of a message, or of one that is written into the target's memory: it refuses it,
// or is known of its code to take no notice. Nothing when it does, as far as is known.
std::optional<std::string> level_trouble(const Offer& offer, CompletionLevel level, bool is_written,
                                         Bytes message_size);

// Why a provider does not leave out the completions that no send asks for; nothing when it does.
std::optional<std::string> selection_trouble(const Offer& offer);

} // namespace a2aperf
