// SPDX-License-Identifier: BSD-3-Clause
#include "scale.hpp"

#include <numeric>

namespace a2aperf {

h5::Dataset create_scale(const h5::Group& group, const char* name, int length) {
    std::vector<std::int32_t> values(static_cast<std::size_t>(length));
    std::iota(values.begin(), values.end(), 0);
    h5::Dataset scale = group.create_dataset(name, {h5::Kind::int32}, {values.size()});
    scale.write(std::span<const std::int32_t>(values));
    scale.make_scale(name);
    return scale;
}

void attach_scales(const h5::Dataset& dataset, std::initializer_list<const h5::Dataset*> scales) {
    unsigned axis = 0;
    for (const h5::Dataset* scale : scales) dataset.attach_scale(axis++, *scale);
}

} // namespace a2aperf
