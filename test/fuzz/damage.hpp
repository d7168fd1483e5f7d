// SPDX-License-Identifier: BSD-3-Clause
// Damage to a results file, as a script of one edit a line. test/fuzz/damage.py reads the same scripts.
//
//   delete PATH                      an object is gone
//   group PATH                       a group in its place
//   link PATH TARGET                 a soft link in its place
//   dataset PATH TYPE DIM…           a dataset of zeros in its place; a scalar without a DIM
//   set PATH INDEX VALUE             one element, number or text, by its place in the order of the file
//   drop PATH@NAME                   an attribute is gone
//   attribute PATH@NAME TYPE VALUE   another in its place
//   truncate BYTES                   the file is cut
//
// TYPE is i8, i32, i64, u64, f64, text (of any length), s<N> (N bytes) or opaque<N>. Other lines mean nothing.
#pragma once

#include <filesystem>
#include <string_view>

namespace a2aperf::fuzz {

// Edits that cannot be made (no such object) are left out.
void damage(const std::filesystem::path& file, std::string_view script);

} // namespace a2aperf::fuzz
