// SPDX-License-Identifier: BSD-3-Clause
#include "known_settings.hpp"

#include <algorithm>

namespace a2aperf {
namespace {

#include "settings.inc"

} // namespace

std::span<const TriedOption> tried_options() {
    return kTried;
}

std::span<const KnownFaster> faster_settings() {
    return kFaster;
}

const TriedOption& tried_option(std::string_view name) {
    return *std::ranges::find(kTried, name, &TriedOption::name);
}

std::vector<std::string> tried_values(std::string_view name) {
    const TriedOption& option = tried_option(name);
    return {option.values.begin(), option.values.end()};
}

} // namespace a2aperf
