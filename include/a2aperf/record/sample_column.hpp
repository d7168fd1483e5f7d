// SPDX-License-Identifier: BSD-3-Clause
// The columns of a point's samples, as a workload declares them: /raw of its files is made of them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "a2aperf/record/value_type.hpp"
#include "a2aperf/stats/samples.hpp"

namespace a2aperf {

// What has a value of its own: each timed op, each rank in it, each message of one rank to another; or each rank in
// each tick of a duration, or in each bucket of its histogram.
enum class Per { op, rank, message, tick, bucket };

enum class Kept {
    always,
    but_in_old_files, // which go on without it when they are resumed
    when_traced       // with --trace
};

struct SampleColumn {
    std::string_view name;
    Per per = Per::rank;
    ValueType type = ValueType::int64; // of an integer
    std::string_view units{};          // empty: none
    std::string_view long_name{};
    Kept kept = Kept::always;
    // Of those that the driver of ops takes for every workload; the workload's own stand under their names.
    std::vector<std::int64_t> Samples::*common = nullptr;

    const std::vector<std::int64_t>& of(const Samples& samples) const;
    std::vector<std::int64_t>& of(Samples& samples) const;
};

// Along what a column of the points tells how many values there are (Samples::ticks, Samples::buckets); of the
// others it is attempts.
inline constexpr std::string_view kTickCount = "ticks";
inline constexpr std::string_view kBucketCount = "buckets";

// What ops with an agreed start have, then the workload's own: a moment of every rank in each op, in the order in
// which its engine tells them.
std::vector<SampleColumn> samples_with(std::vector<SampleColumn> own);

} // namespace a2aperf
