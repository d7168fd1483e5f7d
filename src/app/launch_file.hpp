// SPDX-License-Identifier: BSD-3-Clause
// The results file of a launch. Rank 0 alone touches it; what goes wrong there is everybody's.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "a2aperf/base/error.hpp"
#include "a2aperf/job/job.hpp"
#include "a2aperf/record/recorder.hpp"

namespace a2aperf {

// What rank 0 met and says itself, on the other ranks.
class TroubleOfRoot : public RunError {
public:
    using RunError::RunError;
};

// What rank 0 does alone; where it throws, all ranks do. Collective.
template <class Action>
void on_root(const Job& job, Action&& action) {
    std::string trouble;
    struct {
        bool is_usage = true;
        EndReason reason = EndReason::other;
    } kind;
    if (job.is_root()) try {
            action();
        } catch (const UsageError& error) {
            trouble = error.what();
        } catch (const std::exception& error) {
            trouble = words_of(error);
            kind.reason = reason_of(error);
            kind.is_usage = false;
        }
    job.broadcast_text(trouble);
    job.broadcast(kind);
    if (trouble.empty()) return;
    if (kind.is_usage) throw UsageError(trouble);
    if (!job.is_root()) throw TroubleOfRoot(trouble, kind.reason);
    throw RunError(trouble, kind.reason);
}

class LaunchFile {
public:
    explicit LaunchFile(std::filesystem::path path) : path_(std::move(path)) {}

    const std::filesystem::path& path() const { return path_; }
    // Collective.
    void open(const Job& job, const RecorderSettings& settings, bool resumes, const Plan& plan,
              const Provenance& facts);

    bool is_open() const { return recorder_.has_value(); } // on rank 0, from open() to finish()
    Recorder& recorder() { return *recorder_; }
    const Recorder& recorder() const { return *recorder_; }

    // What of the measurement is kept, and how to go on with it; empty where the file is not open.
    std::string kept(const Plan& plan) const;

    void finish(); // after the last point
    // The last words into the file when something went wrong; harmless when there is none.
    void close(EndState state, EndReason reason, const std::string& message) noexcept;

    // The open file, while the other ranks wait.
    void use(const std::function<void(Recorder&)>& act);
    // For how long that kept them waiting; 0 once they had an answer.
    Nanoseconds kept_waiting() const { return kept_waiting_; }
    void has_answered() { kept_waiting_ = 0; }

private:
    std::filesystem::path path_;
    std::optional<Recorder> recorder_;
    Nanoseconds kept_waiting_ = 0;
};

} // namespace a2aperf
