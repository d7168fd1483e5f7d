// SPDX-License-Identifier: BSD-3-Clause
#include "results_file.hpp"

#include <algorithm>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "checksum.hpp"
#include "crc32.hpp"
#include "describe.hpp"
#include "digest.hpp"
#include "scale.hpp"
#include "strangers.hpp"

namespace a2aperf {
namespace {

constexpr std::string_view kSchema = "a2aperf";

struct TextAttribute {
    const char* name;
    std::string RootAttributes::*value;
};

constexpr TextAttribute kTextAttributes[] = {
    {"title", &RootAttributes::title},
    {"source", &RootAttributes::source},
    {"created", &RootAttributes::created},
    {"origin", &RootAttributes::origin},
    {"percentile_rule", &RootAttributes::percentile_rule},
    {"complete_at", &RootAttributes::complete_at},
};

void require_schema(const h5::File& file, const std::string& path) {
    if (!file.has_attribute("schema") || file.text_attribute("schema") != kSchema)
        throw UsageError(fmt::format("{} is an HDF5 file, but not one of a2aperf (it has no attribute schema = "
                                     "\"{}\")",
                                     path, kSchema));
    const std::int64_t version =
        file.has_attribute("schema_version") ? file.integer_attribute("schema_version") : 0;
    if (version < kOldestSchemaVersion || version > kSchemaVersion)
        throw UsageError(fmt::format("{} has schema version {}; this a2aperf reads versions {} to {}", path,
                                     version, kOldestSchemaVersion, kSchemaVersion));
    if (file.integer_attribute("raw_samples") == 0)
        throw UsageError(fmt::format("{} holds summaries without samples (origin: {}), which can't be added to",
                                     path, quote(file.text_attribute("origin"))));
}

// Older files don't say; what they were asked for tells them apart.
void require_workload(const h5::File& file, const std::string& path, const Schema& schema) {
    if (!file.has_attribute("workload")) return;
    const std::string there = file.text_attribute("workload");
    if (there != schema.workload)
        throw UsageError(
            fmt::format("{} can't be resumed: it was measured by the workload {} and this launch is one of {}. "
                        "Repeat the first launch's arguments, or name a new file with -o",
                        path, quote(there), quote(schema.workload)));
}

bool has_checksums(const h5::File& file) {
    return file.integer_attribute("schema_version") > kOldestSchemaVersion;
}

// Files of the oldest version have none.
void require_digest(const h5::File& file) {
    if (!file.has("digest") && !has_checksums(file)) return;
    const h5::Dataset digest = file.open_dataset("digest");
    digest.require_shape({});
    if (digest.read<std::int64_t>().at(0) != digest_of(file))
        file.throw_unreadable("has a structure, a plan or provenance that is not what was written (digest)");
}

// Counts that no file has become one that fits no other part of it.
int as_count(std::uint64_t extent) {
    return extent <= std::numeric_limits<int>::max() ? static_cast<int>(extent) : -1;
}

ResultsFile open_parts(h5::File file, const Schema& schema) {
    ResultsFile results;
    for (const auto& [name, value] : kTextAttributes) results.attributes.*value = file.text_attribute(name);
    results.raw = RawGroup::open(file, schema.samples);
    results.counters = CounterGroup::open(file);
    results.segments = file.open_group("segments");
    const Lengths lengths = results.raw.lengths();
    const h5::Shape per_node = file.open_group("counters").open_dataset("interrupts").shape();
    if (per_node.size() != 2) file.throw_unreadable("has counters of another shape");
    results.extents = {schema,
                       as_count(lengths.points),
                       as_count(lengths.attempts),
                       as_count(lengths.ranks),
                       as_count(per_node[1]),
                       as_count(lengths.ticks),
                       results.counters.port_names()};
    results.extents.samples = results.raw.columns();
    results.extents.buckets = as_count(lengths.buckets);
    results.columns = PointColumns::open(file, results.extents.points, schema);
    if (has_checksums(file) && !results.columns.has_checksums()) file.throw_unreadable("has no checksums");
    results.file = std::move(file);
    return results;
}

} // namespace

ResultsFile ResultsFile::create(const std::filesystem::path& path, FileLayout layout,
                                const RootAttributes& attributes, const Extents& extents) {
    const h5::Storage storage = layout == FileLayout::compact ? h5::Storage::compressed : h5::Storage::contiguous;
    ResultsFile created;
    created.file = h5::File::create(path);
    created.attributes = attributes;
    created.extents = extents;
    created.file.set("schema", kSchema);
    created.file.set("schema_version", std::int32_t{kSchemaVersion});
    created.file.set("workload", extents.schema.workload);
    created.file.set("replicate", to_string(extents.schema.replicate));
    if (extents.schema.block > 0) created.file.set("block", std::int32_t{extents.schema.block});
    for (const auto& [name, value] : kTextAttributes) created.file.set(name, std::string_view(attributes.*value));
    created.file.set("raw_samples", std::int32_t{1});
    created.file.set("layout", std::string_view(layout == FileLayout::compact ? "compact" : "preallocated"));
    created.file.flush(); // before any data: what a kill leaves is known for ours (file_lock.cpp)
    const h5::Dataset point = create_scale(created.file, "point", extents.points);
    point.set("long_name", std::string_view("point of the sweep, in declared order"));
    created.columns = PointColumns::create(created.file, point, extents.schema);
    created.raw = RawGroup::create(created.file, point, extents, storage);
    created.counters = CounterGroup::create(created.file, point, extents, storage);
    if (extents.group) created.group = DeclaredGroup::create(created.file, *extents.group, storage);
    created.segments = created.file.create_group("segments");
    const h5::Dataset digest = created.file.create_dataset("digest", {h5::Kind::int64}, {});
    describe(digest, "CRC-32 of what does not change: structure, attributes, what was asked, who measured");
    mark_unknown(digest, h5::Kind::int64);
    digest.write(std::span(&kNoChecksum, 1));
    return created;
}

void ResultsFile::close() {
    h5::File last = std::move(file);
    *this = ResultsFile();
    last.close();
}

void throw_damaged(const std::filesystem::path& path, const std::system_error& error) {
    throw UsageError(fmt::format("{} is damaged: {}. 'a2a check --repair' makes a new file of what is sound in it",
                                 h5::shown(path), error.what()));
}

ResultsFile ResultsFile::open(const std::filesystem::path& path, h5::File::Access access, const Schema& schema) {
    const std::string name = h5::shown(path);
    if (!h5::File::is_hdf5(path)) throw UsageError(fmt::format("{} is not an HDF5 file", name));
    try {
        h5::File file = h5::File::open(path, access);
        require_schema(file, name);
        require_workload(file, name, schema);
        require_known_members(file, name, schema);
        require_digest(file);
        ResultsFile results = open_parts(std::move(file), schema);
        results.require_sound();
        return results;
    } catch (const std::system_error& error) {
        throw_damaged(path, error);
    }
}

void ResultsFile::open_group(const std::optional<GroupDeclaration>& declaration) {
    require_known_groups(file, extents.schema, declaration);
    if (!declaration) return;
    group = DeclaredGroup::open(file, *declaration);
    extents.group = group->declaration();
}

std::uint64_t ResultsFile::largest_size(const Extents& extents) {
    constexpr std::uint64_t kMetadata = 256U << 10U;
    constexpr std::uint64_t kPerRank = 640; // facts, clocks and start of a segment
    constexpr std::uint64_t kPerNode = 2048;
    const std::uint64_t rows = extents.p() * extents.schema.columns.size() * (sizeof(double) + sizeof(double));
    const std::uint64_t group = extents.group ? bytes_of(*extents.group) : 0;
    return kMetadata + rows + RawGroup::bytes(extents) + CounterGroup::bytes(extents) + group +
           extents.r() * kPerRank + extents.n() * kPerNode;
}

void ResultsFile::write_digest() const {
    const std::int64_t digest = digest_of(file);
    file.open_dataset("digest").write(std::span(&digest, 1));
}

bool ResultsFile::must_have_trailer() const {
    return file.has("digest") && file.text_attribute("layout") == "compact";
}

void copy_asked(const ResultsFile& from, const ResultsFile& to) {
    const std::span<const Column> columns = to.extents.schema.columns;
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (columns[i].is_asked()) to.columns.write(i, from.columns.read(i));
    const std::vector<State> states = from.columns.states();
    for (std::size_t p = 0; p < states.size(); ++p) to.columns.write_state(static_cast<int>(p), states[p]);
}

void copy_measured(const ResultsFile& from, const std::vector<State>& states, const ResultsFile& to) {
    const std::span<const Column> columns = to.extents.schema.columns;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].is_asked()) continue;
        std::vector<Value> values = from.columns.read(i);
        std::vector<Value> kept = to.columns.read(i);
        for (std::size_t p = 0; p < values.size(); ++p)
            if (has_samples(states[p])) kept[p] = std::move(values[p]);
        to.columns.write(i, kept);
    }
    for (std::size_t p = 0; p < states.size(); ++p)
        if (has_samples(states[p])) to.columns.write_state(static_cast<int>(p), states[p]);
    const std::vector<Made> made = from.made();
    for (std::size_t p = 0; p < states.size(); ++p) {
        if (!has_samples(states[p])) continue;
        const int point = static_cast<int>(p);
        to.raw.write(point, from.raw.read(point, made[p]));
        to.counters.write(point, from.counters.read_ranks(point), from.counters.read_nodes(point),
                          from.counters.port_names());
        to.counters.write_verification(point, from.counters.read_verification(point), from.counters.port_names());
        to.counters.write_values(point, from.counters.read_before(point), from.counters.read_after(point),
                                 from.counters.port_names());
    }
    for (const std::string& segment : from.segments.children()) from.segments.copy_to(to.segments, segment.c_str());
    copy_attributes(from.file, to.file);
}

std::vector<Made> ResultsFile::made() const {
    std::vector<Made> all;
    for (const Value& attempts : columns.read("attempts")) all.push_back({std::get<std::int64_t>(attempts), 0});
    const auto read = [&](std::string_view count, std::int64_t Made::*member) {
        if (!extents.schema.has(count)) return;
        const std::vector<Value> counts = columns.read(count);
        for (std::size_t p = 0; p < all.size(); ++p) all[p].*member = std::get<std::int64_t>(counts[p]);
    };
    read(kTickCount, &Made::ticks);
    read(kBucketCount, &Made::buckets);
    for (Made& one : all) one.buckets = std::max<std::int64_t>(one.buckets, 0); // merged: of a file without
    return all;
}

Made most_made(const ResultsFile& file, const std::vector<State>& states) {
    const std::vector<Made> made = file.made();
    Made most{1, 1, 1};
    for (std::size_t p = 0; p < states.size(); ++p) {
        if (!has_samples(states[p])) continue;
        most.attempts = std::max(most.attempts, made[p].attempts);
        most.ticks = std::max(most.ticks, made[p].ticks);
        most.buckets = std::max(most.buckets, made[p].buckets);
    }
    return most;
}

std::optional<int> copy_checksums(const ResultsFile& from, const ResultsFile& to) {
    const std::vector<std::int64_t> checksums = from.columns.checksums();
    const PointChecksums there(to.file, to.extents.points);
    for (int p = 0; p < from.extents.points; ++p) {
        const std::int64_t checksum = checksums[static_cast<std::size_t>(p)];
        if (checksum == kNoChecksum) continue;
        if (there.of(p) != checksum) return p;
        to.columns.write_checksum(p, checksum);
    }
    return std::nullopt;
}

} // namespace a2aperf
