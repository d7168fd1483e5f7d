// SPDX-License-Identifier: BSD-3-Clause
// One cell of the sweep.
#pragma once

#include <string>
#include <string_view>

#include "a2aperf/base/units.hpp"
#include "a2aperf/plan/schedule.hpp"

namespace a2aperf {

enum class Role { measure, baseline, sentinel };
enum class Post { before, inside };

std::string_view to_string(Role role);
std::string_view to_string(Post post);

struct Point {
    Role role = Role::measure;
    std::string mode;                   // transfer mode; "collective" for the baseline
    const Schedule* schedule = nullptr; // null for the baseline
    int window = 0;                     // outstanding sends; 0 = all
    Bytes message_size = 0;
    Post post = Post::before;
    int partner = -1;        // index of the point measured in alternation with this one
    std::string skip_reason; // empty = measured

    bool is_baseline() const { return role == Role::baseline; }
    bool is_skipped() const { return !skip_reason.empty(); }
    std::string_view schedule_name() const { return schedule != nullptr ? schedule->name : "library"; }
    // For messages: "tagged shift window all 60000 B"; "collective library 60000 B" for a baseline.
    std::string label() const;
};

} // namespace a2aperf
