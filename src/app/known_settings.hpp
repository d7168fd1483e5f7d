// SPDX-License-Identifier: BSD-3-Clause
// What is known of the settings of an all-to-all that are options of the program: the rows of settings.toml.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

// What --search tries of an option that is not given, beside what holds where nobody sets it; words as on the
// command line.
struct TriedOption {
    std::string_view name, usual;
    std::span<const std::string_view> values;
};

// A mode that is known to move more than others.
struct KnownFaster {
    std::string_view provider; // libfabric's full name
    std::string_view mode;
    std::span<const std::string_view> than;
    Bytes above;       // messages of so many bytes
    const char* limit; // variable that sets another number of them
    std::string_view how, figure;
};

std::span<const TriedOption> tried_options();
std::span<const KnownFaster> faster_settings();

// Its row, which is there.
const TriedOption& tried_option(std::string_view name);
std::vector<std::string> tried_values(std::string_view name);

} // namespace a2aperf
