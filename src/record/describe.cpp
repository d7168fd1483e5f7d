// SPDX-License-Identifier: BSD-3-Clause
#include "describe.hpp"

#include <cstdint>

namespace a2aperf {

void describe(const h5::Dataset& dataset, std::string_view long_name, std::string_view units, Better better) {
    dataset.set("long_name", long_name);
    if (!units.empty()) dataset.set("units", units);
    if (better != Better::none) dataset.set("better", to_string(better));
}

void mark_unknown(const h5::Dataset& dataset, ValueType type) {
    if (type == ValueType::int32) dataset.set("_FillValue", std::int32_t{-1});
    if (type == ValueType::int64) dataset.set("_FillValue", std::int64_t{-1});
}

} // namespace a2aperf
