// SPDX-License-Identifier: BSD-3-Clause
#include "segment_group.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/utf8.hpp"
#include "counter_group.hpp"
#include "crc32.hpp"
#include "describe.hpp"

namespace a2aperf {
namespace {

constexpr std::size_t kMessageBytes = 1024;

// Attributes that every segment has: what the launch doesn't know is told as such.
constexpr std::array kTexts{"program_version",
                            "commit",
                            "command_line",
                            "started",
                            "provider",
                            "provider_version",
                            "libfabric_version",
                            "mpi_version",
                            "hdf5_version",
                            "domain",
                            "sync",
                            "sync_reason",
                            "poll",
                            "poll_reason",
                            "memory",
                            "order",
                            "slurm_job_id",
                            "baseline_transport"};
constexpr std::array kWideIntegers{"memory_limit", "seed", "asked_time_budget"};
constexpr std::array kIntegers{"shuffle_ranks", "warmup",        "rails",        "rank_rails",
                               "asked_ops",     "asked_min_ops", "asked_max_ops"};
constexpr std::array kNumbers{"clock_error_ns", "link_rate_gbps", "asked_precision", "asked_link_rate"};

void write_attributes(const h5::Group& group, const Provenance& provenance) {
    std::map<std::string, std::string> texts = provenance.text;
    for (const char* name : kTexts) texts.try_emplace(name, "");
    if (texts["hdf5_version"].empty()) texts["hdf5_version"] = h5::library_version();
    for (const auto& [name, value] : texts) group.set(name.c_str(), std::string_view(value));

    std::map<std::string, std::int64_t> integers = provenance.integers;
    for (const char* name : kWideIntegers) integers.try_emplace(name, -1);
    integers["time_origin"] = provenance.time_origin_ns;
    for (const char* name : kIntegers) {
        const auto found = integers.extract(name);
        group.set(name, static_cast<std::int32_t>(found ? found.mapped() : -1));
    }
    for (const auto& [name, value] : integers) group.set(name.c_str(), value);

    std::map<std::string, double> numbers = provenance.numbers;
    for (const char* name : kNumbers) numbers.try_emplace(name, std::numeric_limits<double>::quiet_NaN());
    for (const auto& [name, value] : numbers) group.set(name.c_str(), value);
}

void write_texts(const h5::Group& group, const std::string& name, const std::vector<std::string>& values) {
    group.create_dataset(name.c_str(), {h5::Kind::text}, {values.size()}).write_text(values);
}

void write_integers(const h5::Group& group, const char* name, const std::vector<int>& values) {
    group.create_dataset(name, {h5::Kind::int32}, {values.size()}).write(std::span<const std::int32_t>(values));
}

void write_numbers(const h5::Group& group, const char* name, const std::vector<double>& values) {
    group.create_dataset(name, {h5::Kind::float64}, {values.size()}).write(std::span<const double>(values));
}

void write_flags(const h5::Group& group, const char* name, const std::vector<std::int8_t>& values) {
    group.create_dataset(name, {h5::Kind::int8}, {values.size()}).write(std::span<const std::int8_t>(values));
}

void write_environment(const h5::Group& group, const std::vector<EnvironmentVariable>& environment) {
    std::vector<std::string> names;
    std::vector<std::string> values;
    std::vector<std::int8_t> uniform;
    std::vector<std::int8_t> required;
    for (const EnvironmentVariable& variable : environment) {
        names.push_back(variable.name);
        values.push_back(variable.value);
        uniform.push_back(variable.is_uniform ? 1 : 0);
        required.push_back(variable.is_required ? 1 : 0);
    }
    write_texts(group, "environment_name", names);
    write_texts(group, "environment_value", values);
    write_flags(group, "environment_uniform", uniform);
    write_flags(group, "environment_required", required);
}

// Two datasets of one length: <noun>_name and <noun>_<what>.
void write_pairs(const h5::Group& group, const std::string& noun, const std::string& what,
                 const std::vector<std::pair<std::string, std::string>>& pairs) {
    std::vector<std::string> names;
    std::vector<std::string> values;
    for (const auto& [name, value] : pairs) {
        names.push_back(name);
        values.push_back(value);
    }
    write_texts(group, noun + "_name", names);
    write_texts(group, noun + "_" + what, values);
}

void write_facts(const h5::Group& group, const char* name,
                 const std::map<std::string, std::vector<std::string>>& facts) {
    const h5::Group folder = group.create_group(name);
    for (const auto& [fact, values] : facts) write_texts(folder, fact, values);
}

// [S, R]: a phase after the other.
void write_start_times(const h5::Group& group, const std::vector<StartTimes::Times>& of_ranks) {
    std::vector<std::string> names;
    std::vector<std::string> meanings;
    std::vector<std::int8_t> waits;
    std::vector<std::int64_t> times;
    for (std::size_t phase = 0; phase < kStartPhases.size(); ++phase) {
        names.emplace_back(kStartPhases[phase].name);
        meanings.emplace_back(kStartPhases[phase].meaning);
        waits.push_back(kStartPhases[phase].waits ? 1 : 0);
        for (const StartTimes::Times& rank : of_ranks) times.push_back(rank[phase]);
    }
    write_texts(group, "phase", names);
    write_texts(group, "meaning", meanings);
    write_flags(group, "waits", waits);
    const h5::Dataset time = group.create_dataset("time", {h5::Kind::int64}, {names.size(), of_ranks.size()});
    describe(time, "time that each rank spent in each phase of its start", "ns");
    time.write(std::span<const std::int64_t>(times));
}

h5::Dataset create_reason(const h5::Group& group) {
    h5::Dataset reason = group.create_dataset("end_reason", {h5::Kind::int8}, {});
    std::array<std::int8_t, kEndReasons.size()> values{};
    std::iota(values.begin(), values.end(), std::int8_t{0});
    reason.set("long_name", std::string_view("why the launch ended"));
    reason.set("flag_values", std::span<const std::int8_t>(values));
    reason.set("flag_meanings", std::string_view(fmt::format("{}", fmt::join(kEndReasons, " "))));
    return reason;
}

void write_reason(const h5::Dataset& dataset, EndReason reason) {
    const auto value = static_cast<std::int8_t>(reason);
    dataset.write(std::span<const std::int8_t>(&value, 1));
}

std::int64_t end_checksum(EndState state, EndReason reason, std::string_view message, std::int64_t ended_ns) {
    Crc32 crc;
    const std::array<char, 2> flags{static_cast<char>(state), static_cast<char>(reason)};
    crc.add(flags);
    crc.add_count(static_cast<std::uint64_t>(ended_ns));
    crc.add_text(message);
    return crc.value();
}

// Only signals interrupted a launch.
EndReason reason_of_state(std::int8_t state) {
    switch (static_cast<EndState>(state)) {
    case EndState::running:
        return EndReason::running;
    case EndState::finished:
        return EndReason::finished;
    case EndState::interrupted:
        return EndReason::signal;
    case EndState::failed:
        break;
    }
    return EndReason::other;
}

} // namespace

SegmentGroup::SegmentGroup(h5::Group group) : group_(std::move(group)) {}

SegmentGroup SegmentGroup::create(const h5::Group& segments, int index, const Provenance& provenance,
                                  const std::vector<int>& planned_order) {
    SegmentGroup segment(segments.create_group(fmt::to_string(index).c_str()));
    const h5::Group& group = segment.group_;
    write_attributes(group, provenance);
    segment.end_state_ = group.create_dataset("end_state", {h5::Kind::int8}, {});
    segment.end_reason_ = create_reason(group);
    segment.ended_ = group.create_dataset("ended", {h5::Kind::int64}, {});
    segment.message_ = group.create_dataset("message", {h5::Kind::fixed_text, kMessageBytes}, {});
    segment.end_checksum_ = group.create_dataset("end_checksum", {h5::Kind::int64}, {});
    describe(segment.end_checksum_, "CRC-32 of how the launch ended: end_state, end_reason, ended, message", "");
    segment.explain(EndState::running, EndReason::running, "", -1);
    segment.end(EndState::running);
    write_texts(group, "nodes", provenance.nodes);
    write_integers(group, "node_of_rank", provenance.node_of_rank);
    write_integers(group, "clock_domain_of_rank", provenance.clock_domain_of_rank);
    write_numbers(group, "clock_offset", provenance.clock_offset);
    write_numbers(group, "clock_drift", provenance.clock_drift);
    write_integers(group, "rank_order", provenance.rank_order);
    write_integers(group, "planned_order", planned_order);
    write_environment(group, provenance.environment);
    write_pairs(group, "label", "value", provenance.labels);
    write_pairs(group, "attachment", "text", provenance.attachments);
    group.create_dataset("fi_info", {h5::Kind::text}, {}).write_text({provenance.provider_attributes});
    write_facts(group, "node_facts", provenance.node_facts);
    write_facts(group, "rank_facts", provenance.rank_facts);
    if (!provenance.start.ranks.empty())
        write_counts(group.create_group("start_counters"), provenance.start, provenance.port_names);
    if (!provenance.start_times.empty())
        write_start_times(group.create_group("start_times"), provenance.start_times);
    return segment;
}

SegmentGroup SegmentGroup::open(const h5::Group& segments, int index) {
    SegmentGroup segment(segments.open_group(fmt::to_string(index).c_str()));
    segment.end_state_ = segment.group_.open_dataset("end_state");
    if (segment.group_.has("end_reason")) segment.end_reason_ = segment.group_.open_dataset("end_reason");
    segment.ended_ = segment.group_.open_dataset("ended");
    segment.message_ = segment.group_.open_dataset("message");
    if (segment.group_.has("end_checksum")) segment.end_checksum_ = segment.group_.open_dataset("end_checksum");
    return segment;
}

void SegmentGroup::explain(EndState state, EndReason reason, std::string_view message,
                           std::int64_t ended_ns) const {
    std::string text = cut_utf8(message, kMessageBytes);
    const std::int64_t sum = state == EndState::running ? kNoChecksum : end_checksum(state, reason, text, ended_ns);
    text.resize(kMessageBytes, '\0');
    message_.write_fixed(text, {});
    ended_.write(std::span<const std::int64_t>(&ended_ns, 1));
    write_reason(end_reason_, reason);
    end_checksum_.write(std::span<const std::int64_t>(&sum, 1));
}

void SegmentGroup::end(EndState state) const {
    const auto value = static_cast<std::int8_t>(state);
    end_state_.write(std::span<const std::int8_t>(&value, 1));
}

void SegmentGroup::add_reasons(const h5::Group& segments) {
    for (const std::string& name : segments.children()) {
        const h5::Group group = segments.open_group(name.c_str());
        if (group.has("end_reason")) continue;
        const std::int8_t state = group.open_dataset("end_state").read<std::int8_t>().at(0);
        write_reason(create_reason(group), reason_of_state(state));
    }
}

std::vector<std::string> SegmentGroup::nodes() const {
    return group_.open_dataset("nodes").read_text();
}

std::vector<int> SegmentGroup::planned_order() const {
    return group_.open_dataset("planned_order").read<std::int32_t>();
}

std::string SegmentGroup::start_of_ops() const {
    return group_.text_attribute("sync");
}

std::vector<std::string> SegmentGroup::labels() const {
    const std::vector<std::string> names = group_.open_dataset("label_name").read_text();
    const std::vector<std::string> values = group_.open_dataset("label_value").read_text();
    if (values.size() != names.size()) group_.throw_unreadable("has lists of different lengths for its labels");
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < names.size(); ++i) labels.push_back(names[i] + "=" + values[i]);
    return labels;
}

double SegmentGroup::number(const char* attribute) const {
    const h5::Stored stored = group_.stored_attribute(attribute);
    double number = 0;
    if (stored.type != "f8" || stored.bytes.size() != sizeof number)
        group_.throw_unreadable(fmt::format("has no number as attribute {}", attribute));
    std::memcpy(&number, stored.bytes.data(), sizeof number);
    return number;
}

std::map<std::string, std::string> SegmentGroup::required_environment() const {
    const std::vector<std::string> names = group_.open_dataset("environment_name").read_text();
    const std::vector<std::string> values = group_.open_dataset("environment_value").read_text();
    const std::vector<std::int8_t> required = group_.open_dataset("environment_required").read<std::int8_t>();
    if (values.size() != names.size() || required.size() != names.size())
        group_.throw_unreadable("has lists of different lengths for its environment");
    std::map<std::string, std::string> environment;
    for (std::size_t i = 0; i < names.size(); ++i)
        if (required[i] != 0) environment.emplace(names[i], values[i]);
    return environment;
}

} // namespace a2aperf
