// SPDX-License-Identifier: BSD-3-Clause
#include "raw_group.hpp"

#include <algorithm>

#include "describe.hpp"
#include "scale.hpp"

namespace a2aperf {
namespace {

struct Moment {
    const char* name;
    const char* long_name;
    std::vector<Nanoseconds> Samples::*values;
};

constexpr std::array<Moment, 3> kMoments{{
    {"begin", "begin of the rank's op, from the op's start", &Samples::begin},
    {"send_done", "all sends of the rank are done, from the op's start", &Samples::send_done},
    {"recv_done", "all arrivals at the rank are seen, from the op's start", &Samples::recv_done},
}};

h5::Block first_attempts(int point, std::size_t attempts) {
    return {{std::uint64_t(point), 0}, {1, attempts}};
}

h5::Block first_attempts(int point, std::size_t attempts, int ranks) {
    return {{std::uint64_t(point), 0, 0}, {1, attempts, std::uint64_t(ranks)}};
}

h5::Block messages(int point, std::size_t attempts, int ranks) {
    const auto all = std::uint64_t(ranks);
    return {{std::uint64_t(point), 0, 0, 0}, {1, attempts, all, all}};
}

} // namespace

RawGroup RawGroup::create(const h5::File& file, const h5::Dataset& point_scale, const Extents& extents,
                          h5::Storage storage) {
    const h5::Group group = file.create_group("raw");
    const h5::Dataset attempt = create_scale(group, "attempt", extents.attempts);
    const h5::Dataset rank = create_scale(group, "rank", extents.ranks);
    RawGroup raw;
    for (std::size_t i = 0; i < kMoments.size(); ++i) {
        const h5::Shape shape{extents.p(), extents.a(), extents.r()};
        raw.moments_[i] = group.create_dataset(kMoments[i].name, {h5::Kind::int64}, shape, storage);
        describe(raw.moments_[i], kMoments[i].long_name, "ns");
        attach_scales(raw.moments_[i], {&point_scale, &attempt, &rank});
    }
    raw.start_ = group.create_dataset("start", {h5::Kind::int64}, {extents.p(), extents.a()}, storage);
    describe(raw.start_, "start of the op, from the segment's time_origin", "ns");
    raw.valid_ = group.create_dataset("valid", {h5::Kind::int8}, {extents.p(), extents.a()}, storage);
    describe(raw.valid_, "1 valid, 0 a rank was late");
    attach_scales(raw.start_, {&point_scale, &attempt});
    attach_scales(raw.valid_, {&point_scale, &attempt});
    if (extents.has_exits) {
        raw.exit_ =
            group.create_dataset("exit", {h5::Kind::int64}, {extents.p(), extents.a(), extents.r()}, storage);
        describe(*raw.exit_, "the rank left the barrier, from `start`; 0 with a clock start", "ns");
        attach_scales(*raw.exit_, {&point_scale, &attempt, &rank});
    }
    if (!extents.is_traced) return raw;
    const h5::Dataset source = create_scale(group, "source", extents.ranks);
    raw.arrival_ = group.create_dataset("arrival", {h5::Kind::int64},
                                        {extents.p(), extents.a(), extents.r(), extents.r()}, storage);
    describe(*raw.arrival_, "the message is seen at its destination, from the op's start", "ns");
    attach_scales(*raw.arrival_, {&point_scale, &attempt, &rank, &source});
    return raw;
}

RawGroup RawGroup::open(const h5::File& file) {
    const h5::Group group = file.open_group("raw");
    RawGroup raw;
    for (std::size_t i = 0; i < kMoments.size(); ++i) raw.moments_[i] = group.open_dataset(kMoments[i].name);
    raw.start_ = group.open_dataset("start");
    raw.valid_ = group.open_dataset("valid");
    if (group.has("exit")) raw.exit_ = group.open_dataset("exit");
    if (group.has("arrival")) raw.arrival_ = group.open_dataset("arrival");
    return raw;
}

void RawGroup::require_shapes(const Extents& extents) const {
    for (const h5::Dataset& moment : moments_) moment.require_shape({extents.p(), extents.a(), extents.r()});
    start_.require_shape({extents.p(), extents.a()});
    valid_.require_shape({extents.p(), extents.a()});
    if (exit_) exit_->require_shape({extents.p(), extents.a(), extents.r()});
    if (arrival_) arrival_->require_shape({extents.p(), extents.a(), extents.r(), extents.r()});
}

std::uint64_t RawGroup::stored_bytes() const {
    const auto least = [](const h5::Dataset& a, const h5::Dataset& b) {
        return a.stored_bytes() < b.stored_bytes();
    };
    return std::min_element(moments_.begin(), moments_.end(), least)->stored_bytes();
}

int RawGroup::max_attempts() const {
    return static_cast<int>(start_.shape().at(1));
}

void RawGroup::write(int point, const Samples& samples) const {
    const std::size_t attempts = samples.start.size();
    for (std::size_t i = 0; i < kMoments.size(); ++i)
        moments_[i].write(std::span<const Nanoseconds>(samples.*kMoments[i].values),
                          first_attempts(point, attempts, samples.ranks));
    start_.write(std::span<const Nanoseconds>(samples.start), first_attempts(point, attempts));
    valid_.write(std::span<const std::int8_t>(samples.valid), first_attempts(point, attempts));
    if (exit_)
        exit_->write(std::span<const Nanoseconds>(samples.exit), first_attempts(point, attempts, samples.ranks));
    if (arrival_)
        arrival_->write(std::span<const Nanoseconds>(samples.arrival), messages(point, attempts, samples.ranks));
}

Samples RawGroup::read(int point, int attempts) const {
    const auto count = static_cast<std::size_t>(attempts);
    Samples samples;
    samples.ranks = static_cast<int>(moments_[0].shape().at(2));
    for (std::size_t i = 0; i < kMoments.size(); ++i)
        samples.*kMoments[i].values = moments_[i].read<Nanoseconds>(first_attempts(point, count, samples.ranks));
    samples.start = start_.read<Nanoseconds>(first_attempts(point, count));
    samples.valid = valid_.read<std::int8_t>(first_attempts(point, count));
    if (exit_) samples.exit = exit_->read<Nanoseconds>(first_attempts(point, count, samples.ranks));
    if (arrival_) samples.arrival = arrival_->read<Nanoseconds>(messages(point, count, samples.ranks));
    return samples;
}

std::uint64_t RawGroup::bytes(const Extents& extents) {
    const std::uint64_t per_message = extents.is_traced ? sizeof(Nanoseconds) : 0;
    const std::size_t moments = kMoments.size() + (extents.has_exits ? 1 : 0);
    const std::uint64_t per_rank = moments * sizeof(Nanoseconds) + extents.r() * per_message;
    const std::uint64_t per_attempt = extents.r() * per_rank + sizeof(Nanoseconds) + 1;
    return extents.p() * extents.a() * per_attempt;
}

} // namespace a2aperf
