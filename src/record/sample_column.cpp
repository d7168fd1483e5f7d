// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/record/sample_column.hpp"

#include <iterator>

namespace a2aperf {

const std::vector<std::int64_t>& SampleColumn::of(const Samples& samples) const {
    static const std::vector<std::int64_t> nothing;
    if (common != nullptr) return samples.*common;
    const auto found = samples.own.find(name);
    return found != samples.own.end() ? found->second : nothing;
}

std::vector<std::int64_t>& SampleColumn::of(Samples& samples) const {
    return common != nullptr ? samples.*common : samples.own[name];
}

std::vector<SampleColumn> samples_with(std::vector<SampleColumn> own) {
    std::vector<SampleColumn> all{
        {.name = "begin",
         .units = "ns",
         .long_name = "begin of the rank's op, from the op's start",
         .common = &Samples::begin},
        {.name = "send_done",
         .units = "ns",
         .long_name = "all sends of the rank are done, from the op's start",
         .common = &Samples::send_done},
        {.name = "recv_done",
         .units = "ns",
         .long_name = "all arrivals at the rank are seen, from the op's start",
         .common = &Samples::recv_done},
        {.name = "start",
         .per = Per::op,
         .units = "ns",
         .long_name = "start of the op, from the segment's time_origin",
         .common = &Samples::start},
        {.name = "valid",
         .per = Per::op,
         .type = ValueType::int8,
         .long_name = "1 valid, 0 a rank was late, or the op time is not above 0",
         .common = &Samples::valid},
        {.name = "exit",
         .units = "ns",
         .long_name = "the rank left the barrier, from `start`; 0 with a clock start",
         .kept = Kept::but_in_old_files,
         .common = &Samples::exit},
        {.name = "arrival",
         .per = Per::message,
         .units = "ns",
         .long_name = "the message is seen at its destination, from the op's start",
         .kept = Kept::when_traced,
         .common = &Samples::arrival},
    };
    all.insert(all.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
    return all;
}

} // namespace a2aperf
