// SPDX-License-Identifier: BSD-3-Clause
// The results file of a running launch (docs/file-format.md). Rank 0 only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/base/end_reason.hpp"
#include "a2aperf/plan/plan.hpp"
#include "a2aperf/record/columns.hpp"
#include "a2aperf/record/group_declaration.hpp"
#include "a2aperf/result/point_result.hpp"
#include "a2aperf/result/provenance.hpp"
#include "a2aperf/stats/samples.hpp"

namespace a2aperf {

enum class EndState { running = 0, finished = 1, interrupted = 2, failed = 3 };

struct RecorderSettings {
    std::filesystem::path file{};
    int max_attempts = 0; // A
    int max_ticks = 0;    // T, where samples run along ticks
    int max_buckets = 0;  // of a histogram, where there is one
    PercentileRule percentile = PercentileRule::rank;
    CompleteAt complete_at = CompleteAt::receiver;
    std::string provider{}; // full name, for the points of our own engine
    Schema schema{};
    std::optional<GroupDeclaration> group{}; // what the workload keeps beside the samples
    bool is_traced = false;                  // with the arrival of each message
    bool is_memory_limit_asked = false;      // otherwise it is what the nodes have
    bool may_replace = false;                // an existing file, when the new one is created
};

class Recorder {
public:
    // Creates the file with all its metadata; refuses (UsageError) a missing or unwritable folder and a file
    // that could outgrow the free space; throws std::system_error in HDF5's category when writing fails.
    // An existing file is replaced only by the final rename of a complete new one.
    static Recorder create(const RecorderSettings& settings, const Plan& plan, const Layout& layout,
                           const Provenance& provenance);

    // Continues an existing file: writes a copy with room for one more segment, renames it over the first and
    // goes on there. The plan, R, N, provider, rules and required variables must be the file's (UsageError that
    // names the difference).
    // is_complete() then tells which points are there already.
    static Recorder resume(const RecorderSettings& settings, const Plan& plan, const Layout& layout,
                           const Provenance& provenance);

    Recorder(Recorder&&) noexcept;
    Recorder& operator=(Recorder&&) noexcept;
    ~Recorder();

    bool is_complete(int point) const;
    // The statistics of a completed point of an earlier segment, read back from the file.
    PointResult stored(int point) const;

    // With the cells of the declared group that follow from it. Durable on return against the end of this process,
    // by its checksum; that it is complete is said when its data are on the disk, for which this may wait as long
    // as that leaves most of the time to the launch (barrier.hpp), and otherwise the next call or end() does it.
    void write(int point, const PointResult& result);

    // A row that is measured again stands for nothing from now on, in the file, too.
    void take_back(int point);

    // More points behind those that there are, for what was found out by now: writes a copy of the file with room
    // for them, renames it over the first and goes on there. A kill leaves one of the two.
    void extend(const std::vector<Point>& more, const Layout& layout, const std::string& provider);

    // The declared group: some of its cells, all that belongs together at once, and a column made blank again.
    void write_all(const std::function<void(const PutCells& put)>& cells);
    std::vector<double> read(const std::string& column, const std::vector<std::uint64_t>& places) const;
    std::vector<std::string> read_texts(const std::string& column) const; // all that were not known beforehand
    void clear(const std::string& column);

    // The last words: end state, time, message; fsync. A finished file is compacted and renamed; nothing can be
    // written after that.
    // On return the results are safe in either form; a text says why they could not be compacted. RunError when a
    // finished file lost its name meanwhile and can't have it again.
    // reason: why it ended before its end; of a finished one that says enough.
    std::optional<std::string> end(EndState state, std::string_view message, EndReason reason = EndReason::other);

    // What the user should know of a resumed file: other nodes than before.
    const std::vector<std::string>& remarks() const;

    // Whether the name still leads to what this launch writes: others may have removed or replaced the file.
    bool has_name() const;
    // Where it is then: the name that somebody gave it; empty when it was removed.
    std::filesystem::path moved_to() const;

private:
    class Impl;
    explicit Recorder(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

// What a launch chose by itself and one that resumes its file keeps.
struct StoredChoices {
    std::vector<int> order; // in which the points were planned to be measured: a shuffled one
    std::string start;      // of ops: "clock" or "barrier"; empty = there is no such launch
};

// Of a file that is being written, at most, but for the counters of ports, of which nobody knows beforehand.
std::uint64_t largest_file(const RecorderSettings& settings, const Plan& plan, const Layout& layout);

// Before MPI and the fabric are touched: refuses (UsageError) an output that exists (without resume or force),
// a folder that is missing or not writable, and, for resume, a file that is no results file of this schema, whose
// choices it gives. Touches nothing.
StoredChoices check_output(const std::filesystem::path& file, bool may_resume, bool may_replace,
                           const Schema& schema);

// What it may take at most, of a file that is to be resumed; 0 where there is none.
Nanoseconds longest_check(const std::filesystem::path& file);

} // namespace a2aperf
