// SPDX-License-Identifier: BSD-3-Clause
// Points of streams as text, as they come. table: a line each; loopback: the columns of the published tables of a
// loopback test, in their order, with their names and units, a table for each mode, window and kind of stream.
#pragma once

#include <string>

#include "duration_workload.hpp"

namespace a2aperf {

class StreamTable final : public DurationTable {
public:
    StreamTable(Format format, const Layout& layout, const std::string& provider, const Plan& plan);
    std::string header() const override;
    std::string row(const Row& row) override;
    void add(const Point& point, const PointResult& result) override;
    void close(Progress& progress) const override;

private:
    std::string heading() const;
    std::string line(const Row& row) const;

    Format format_;
    std::string title_;
    bool has_asked_ = false;                            // for completions, some point
    bool tells_threads_ = false, tells_memory_ = false; // of each row
    std::string last_table_;                            // loopback: what it is of
    int lost_ = 0;                                      // intervals
    int untold_ = 0;                                    // points of which the start carries no time
};

} // namespace a2aperf
