// SPDX-License-Identifier: BSD-3-Clause
// A path: messages of one size from one rank to another, beside those of other paths, over a channel of its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/base/units.hpp"
#include "a2aperf/plan/traffic_class.hpp"

namespace a2aperf {

// As the user asks for it: what is left open is the point's.
struct AskedPath {
    Rank from = 0, to = 1;
    TrafficClass traffic_class{};
    std::optional<Bytes> size{};
    std::optional<int> window{};
    std::optional<std::string> mode{}; // any word: which modes there are is asked where they are known
    Nanoseconds start = 0;             // from the start of the point

    // "0:1,class=bulk,size=8MiB,window=4,mode=msg,start=5s", each of them once and none but the ranks needed.
    // Throws UsageError.
    static AskedPath parse(std::string_view text);
};

// A path a line; what stands behind a # and empty lines are none. name: of the file, for what is said of a line.
std::vector<AskedPath> parse_path_lines(std::string_view name, std::string_view text);

// Over which of its ranks' endpoints each path goes, from 0. An endpoint is of one path. Paths that have no rank in
// common may go over endpoints of the same number, so that each rank opens no more than it has paths: of one class,
// or of classes that each process has for itself (service levels); what a connection gets is one on all ranks.
std::vector<int> channels_of(const std::vector<AskedPath>& paths);

struct Path {
    Rank from, to;
    TrafficClass traffic_class;
    Bytes size;
    int window;
    std::string mode;
    Nanoseconds start;
    int channel; // of its ranks (channels_of())

    // "0:1 class=bulk size=8388608 window=4 mode=tagged start=5s"
    std::string text() const;
};

// "0:1 size=4096 …; 0:1 …"
std::string text_of(const std::vector<Path>& paths);

} // namespace a2aperf
