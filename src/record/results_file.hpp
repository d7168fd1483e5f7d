// SPDX-License-Identifier: BSD-3-Clause
// The whole of docs/file-format.md, put together from its parts.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "counter_group.hpp"
#include "declared_group.hpp"
#include "extents.hpp"
#include "h5.hpp"
#include "point_columns.hpp"
#include "raw_group.hpp"

namespace a2aperf {

inline constexpr int kSchemaVersion = 2;       // that is written
inline constexpr int kOldestSchemaVersion = 1; // that is read: without checksums

enum class FileLayout { preallocated, compact };

// Root attributes that a copy carries over.
struct RootAttributes {
    std::string title;
    std::string source;
    std::string created; // ISO 8601 UTC
    std::string origin = "measured";
    std::string percentile_rule;
    std::string complete_at;
};

struct ResultsFile {
    h5::File file;
    RootAttributes attributes;
    Extents extents;
    PointColumns columns;
    RawGroup raw;
    CounterGroup counters;
    std::optional<DeclaredGroup> group; // of the workload, where it declares one
    h5::Group segments;

    // All metadata, every row blank, no segment.
    static ResultsFile create(const std::filesystem::path& path, FileLayout layout,
                              const RootAttributes& attributes, const Extents& extents);

    // UsageError, in one line, for what is no results file, is damaged, of another schema version, or holds no
    // samples.
    static ResultsFile open(const std::filesystem::path& path, h5::File::Access access, const Schema& schema);

    // Of a file that is open. Throws UsageError where it has a group that is not declared and h5::Unreadable where
    // the declared one is missing or another.
    void open_group(const std::optional<GroupDeclaration>& declaration);

    int segment_count() const { return static_cast<int>(segments.children().size()); }

    // What of the points is there: the state of each as its row says it, pending where its checksum is not that of
    // what the file holds. Files without checksums are taken at their word.
    struct Reliable {
        std::vector<State> states;
        std::vector<int> damaged;  // points that say they are done with and are not what was written
        std::vector<int> misnamed; // points that are, with a state that is not theirs
        std::vector<std::string>
            asked; // columns whose numbers, of points that are not done, are not what was written
    };
    Reliable reliable() const;

    std::vector<Made> made() const; // [P], as the rows say it

    // The checksums of the skipped points and of those that are there.
    void write_checksums() const;
    // When all metadata are there.
    void write_digest() const;
    bool must_have_trailer() const; // it is finished, and of a version that has one

    // Throws where what HDF5 writes at that time fails; nothing of it is open then.
    void close();

    // Whether every part has the shape that the others have, so that whoever reads one point after another finds
    // all of it. Throws h5::Unreadable.
    void require_sound() const;

    // Bytes of a preallocated file of these extents in which every attempt, tick and bucket is made, its metadata
    // estimated.
    static std::uint64_t largest_size(const Extents& extents);
};

// What was asked of every point, and its state.
void copy_asked(const ResultsFile& from, const ResultsFile& to);

// What to say of a file that cannot be read to its end.
[[noreturn]] void throw_damaged(const std::filesystem::path& path, const std::system_error& error);

// Every segment, and every outcome of the points that have samples by `states`: columns, samples, counters, state.
// Their number and meaning must be the same; `to` has room for all attempts made and all ports.
void copy_measured(const ResultsFile& from, const std::vector<State>& states, const ResultsFile& to);

// The most attempts, ticks and buckets of the points that have samples by `states`; 1 at least.
Made most_made(const ResultsFile& file, const std::vector<State>& states);

// The checksums as they are in `from`, and whether they hold of `to`: the first point of which they do not, or
// none.
std::optional<int> copy_checksums(const ResultsFile& from, const ResultsFile& to);

} // namespace a2aperf
