// SPDX-License-Identifier: BSD-3-Clause
// Dimension scales: what makes netCDF's and xarray's dimensions of HDF5's.
#pragma once

#include <initializer_list>

#include "h5.hpp"

namespace a2aperf {

// 0 … length - 1 under the dimension's name.
h5::Dataset create_scale(const h5::Group& group, const char* name, int length);

// One scale per dimension.
void attach_scales(const h5::Dataset& dataset, std::initializer_list<const h5::Dataset*> scales);

} // namespace a2aperf
