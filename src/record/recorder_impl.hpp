// SPDX-License-Identifier: BSD-3-Clause
// What Recorder holds between its calls; recorder.cpp and resume.cpp share it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "a2aperf/base/error.hpp"
#include "a2aperf/record/recorder.hpp"
#include "barrier.hpp"
#include "checksum.hpp"
#include "file_lock.hpp"
#include "output.hpp"
#include "results_file.hpp"
#include "segment_group.hpp"

namespace a2aperf {

class Recorder::Impl {
public:
    std::filesystem::path file;
    ResultsFile results;
    std::optional<FileLock> lock;
    std::vector<Point> points;               // [P], as planned
    std::vector<State> states;               // [P], as in the file, or there after the next barrier
    std::optional<PointChecksums> checksums; // of the file that is written
    std::vector<std::string> port_names;     // of this launch
    std::vector<std::string> remarks;
    int segment = 0;
    int next_order = 0;
    std::vector<int> waiting; // points that are written; their states wait for the next barrier
    BarrierPace pace;
    // After a barrier that failed no later one confirms anything: what the kernel could not write it takes for
    // written.
    bool is_disk_trusted = true;

    // Recorder::resume; h5::Unreadable for a file that cannot be read to its end.
    static std::unique_ptr<Impl> resume(const RecorderSettings& settings, const Plan& plan, const Layout& layout,
                                        const Provenance& provenance);
    // Adds this launch's segment, the last metadata there is, and gives the file its name. From here on only raw
    // data is written.
    void start(Replacement& replacement, Existing existing, const Provenance& provenance,
               const std::vector<int>& planned_order);
    // The latter of these alone.
    void publish(Replacement& replacement, Existing existing);
    void extend(const std::vector<Point>& more, const Layout& layout, const std::string& provider);
    // Throws where the file lost its name meanwhile and another has it.
    void require_name() const;
    RunError nameless() const;
    PercentileRule percentile_rule() const; // the file's
    // Before a point's rows change that has samples: from here on it is not measured, on the disk either.
    void take_back(int point);
    // A barrier: what was written is on the disk, then the points that wait say so.
    void settle();
    void close(EndState state, EndReason reason, std::string_view message);
    void compact();
};

RootAttributes root_attributes(const RecorderSettings& settings, const Layout& layout,
                               const Provenance& provenance);

// UsageError when the file could outgrow the disk.
void require_room(const std::filesystem::path& file, const Extents& extents);

} // namespace a2aperf
