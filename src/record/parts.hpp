// SPDX-License-Identifier: BSD-3-Clause
// A dataset larger than memory, in boxes that are not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "h5.hpp"

namespace a2aperf {

// All of a dataset.
inline h5::Block whole(const h5::Shape& shape) {
    return {h5::Shape(shape.size(), 0), shape};
}

// Calls action with one box of the whole after the other, in row-major order, each in memory at once.
template <class Action>
void in_parts(const h5::Block& whole, std::size_t element_bytes, Action action) {
    constexpr std::uint64_t kPartBytes = 16U << 20U; // as large as a chunk of a compressed file
    const h5::Shape& shape = whole.count;
    if (h5::elements(shape) == 0) return;
    if (shape.empty()) return action(whole);
    const std::uint64_t most = std::max<std::uint64_t>(kPartBytes / element_bytes, 1);
    // Whole in the dimensions after `cut`, one at a time in those before it.
    std::size_t cut = 0;
    std::uint64_t inner = h5::elements(shape) / shape[0];
    while (inner > most && cut + 1 < shape.size()) inner /= shape[++cut];
    const std::uint64_t step = std::clamp<std::uint64_t>(most / inner, 1, shape[cut]);
    const std::uint64_t outer = h5::elements({shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(cut)});
    for (std::uint64_t i = 0; i < outer; ++i) {
        h5::Block part = whole;
        std::uint64_t rest = i;
        for (std::size_t axis = cut; axis-- > 0; rest /= shape[axis]) {
            part.offset[axis] += rest % shape[axis];
            part.count[axis] = 1;
        }
        for (std::uint64_t first = 0; first < shape[cut]; first += step) {
            part.offset[cut] = whole.offset[cut] + first;
            part.count[cut] = std::min(step, shape[cut] - first);
            action(part);
        }
    }
}

} // namespace a2aperf
