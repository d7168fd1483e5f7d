// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/fault.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"

namespace a2aperf {

std::optional<Fault> requested_fault() {
    const char* text = std::getenv("A2APERF_FAULT");
    if (text == nullptr) return std::nullopt;
    const std::string_view view = text;
    constexpr std::array<std::pair<std::string_view, FaultKind>, 4> kKinds{
        {{"flip", FaultKind::flip_byte},
         {"lose", FaultKind::lose_message},
         {"double", FaultKind::double_message},
         {"misdirect", FaultKind::misdirect_message}}};
    const auto colon = view.find(':');
    for (const auto& [name, kind] : kKinds) {
        if (colon == std::string_view::npos || view.substr(0, colon) != name) continue;
        Rank rank = 0;
        const auto number = view.substr(colon + 1);
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), rank);
        if (error == std::errc{} && end == number.data() + number.size() && rank >= 0) return Fault{kind, rank};
    }
    throw UsageError(fmt::format("A2APERF_FAULT is '{}': it must be flip:RANK, lose:RANK, double:RANK or "
                                 "misdirect:RANK, or not set",
                                 view));
}

} // namespace a2aperf
