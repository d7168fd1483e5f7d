// SPDX-License-Identifier: BSD-3-Clause
#include "launch_file.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/terminal.hpp"

namespace a2aperf {

void LaunchFile::open(const Job& job, const RecorderSettings& settings, bool resumes, const Plan& plan,
                      const Provenance& facts) {
    on_root(job, [&] {
        recorder_.emplace(resumes && std::filesystem::exists(path_)
                              ? Recorder::resume(settings, plan, job.layout(), facts)
                              : Recorder::create(settings, plan, job.layout(), facts));
    });
}

std::string LaunchFile::kept(const Plan& plan) const {
    if (!recorder_) return {};
    if (!recorder_->has_name()) {
        const std::filesystem::path elsewhere = recorder_->moved_to();
        return fmt::format("; {} was {} during the launch", path_.string(),
                           elsewhere.empty() ? "removed or replaced"
                                             : fmt::format("moved to {}", elsewhere.string()));
    }
    // As the closing words count them.
    int points = 0;
    for (std::size_t i = 0; i < plan.points.size(); ++i) {
        const Point& point = plan.points[i];
        if (point.is_counted() && recorder_->is_complete(static_cast<int>(i))) ++points;
    }
    const bool can_resume =
        std::ranges::none_of(plan.points, [](const Point& point) { return point.role == Role::search; });
    return fmt::format("; {} {} complete in {}{}", counted(points, "point"), points == 1 ? "is" : "are",
                       path_.string(), can_resume ? ": --resume goes on with it" : "");
}

void LaunchFile::use(const std::function<void(Recorder&)>& act) {
    const Nanoseconds begin = now_ns();
    act(*recorder_);
    kept_waiting_ += now_ns() - begin;
}

// A file that could not be brought to its end is a failed run, unlike one that stays larger than it need be.
void LaunchFile::finish() {
    if (!recorder_) return;
    if (const auto trouble = recorder_->end(EndState::finished, "")) complain(*trouble);
    recorder_.reset();
}

void LaunchFile::close(EndState state, EndReason reason, const std::string& message) noexcept {
    if (!recorder_) return;
    try {
        recorder_->end(state, message, reason);
    } catch (const std::exception& error) {
        complain(error.what());
    }
    recorder_.reset();
}

} // namespace a2aperf
