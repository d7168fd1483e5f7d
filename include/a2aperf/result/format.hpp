// SPDX-License-Identifier: BSD-3-Clause
// How results are printed.
#pragma once

namespace a2aperf {

enum class Format { table, wide, compat, loopback, clusterperf, qos, csv, json };

} // namespace a2aperf
