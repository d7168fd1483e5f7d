// SPDX-License-Identifier: BSD-3-Clause
// What --resume reads of a file that others had in their hands (src/record). An input is a script of damage.hpp; it
// is applied to a sound file of which some points are complete: one as a finished launch leaves it, or, where the
// script begins with "preallocated", one as an ended launch does; where it has the word "resealed", its digest and
// checksums are those of what is damaged. The program must refuse such a file as it stands, or go on with it and
// leave one that can be read.
#include <cstdint>
#include <fstream>

#include "a2aperf/record/recorder.hpp"
#include "damage.hpp"
#include "property.hpp"
#include "record/digest.hpp"
#include "record/results_file.hpp"
#include "support/schema.hpp"
#include "support/synthetic.hpp"
#include "support/temporary_folder.hpp"

using namespace a2aperf;
using fuzz::is_accepted;
using fuzz::require;

namespace {

std::string bytes_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

class Launch {
public:
    Launch() {
        settings_.file = folder_ / "results.h5";
        settings_.max_attempts = 3;
        settings_.provider = "tcp;ofi_rxm";
        settings_.schema = test::kSchema;
        for (const EndState end : {EndState::finished, EndState::interrupted}) {
            Recorder recorder = Recorder::create(settings_, plan_, layout_, provenance_);
            for (const int point : {0, 1}) recorder.write(point, result(point));
            recorder.end(end, "");
            (end == EndState::finished ? compact_ : preallocated_) = bytes_of(settings_.file);
            settings_.may_replace = true;
        }
    }

    // One file of each layout that the program leaves.
    void make_file(bool is_compact) const {
        const std::string& bytes = is_compact ? compact_ : preallocated_;
        std::ofstream(settings_.file, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
    }

    // As who knows the checksums leaves it: what is read behind them is met, too.
    void reseal() const {
        try {
            const h5::File whole = h5::File::open(file(), h5::File::Access::read_write);
            const std::int64_t digest = digest_of(whole);
            whole.open_dataset("digest").write(std::span(&digest, 1));
        } catch (const std::system_error&) {
            return; // there is none of such a file
        }
        try {
            ResultsFile::open(file(), h5::File::Access::read_write, settings_.schema).write_checksums();
        } catch (const UsageError&) {
        } catch (const std::system_error&) {
        }
    }

    // As the program does with --resume, from the look at the file to the last words.
    void go_on() const {
        check_output(file(), true, false, settings_.schema);
        Recorder recorder = Recorder::resume(settings_, plan_, layout_, provenance_);
        for (int point = 0; point < static_cast<int>(plan_.points.size()); ++point) {
            if (recorder.is_complete(point))
                require(recorder.stored(point).samples.ranks == layout_.ranks(), "a stored point has all ranks");
            else
                recorder.write(point, result(point));
        }
        for (const std::string& remark : recorder.remarks())
            require(test::is_one_clear_line(remark), "a remark is one clear line", remark);
        const auto complaint = recorder.end(EndState::finished, "");
        require(!complaint, "a file that was accepted can be compacted", complaint.value_or(""));
    }

    void check_end() const {
        const ResultsFile results = ResultsFile::open(file(), h5::File::Access::read_only, settings_.schema);
        for (const State state : results.columns.states())
            require(state == State::complete || state == State::skipped, "every point is measured in the end");
    }

    const std::filesystem::path& file() const { return settings_.file; }
    const test::TemporaryFolder& folder() const { return folder_; }

private:
    PointResult result(int point) const { return test::synthetic_result(point, plan_, layout_, 2, provenance_); }

    test::TemporaryFolder folder_;
    Layout layout_ = Layout::blocks(2, 1);
    Plan plan_ = test::synthetic_plan(4);
    Provenance provenance_ = test::synthetic_provenance(layout_);
    RecorderSettings settings_;
    std::string compact_;
    std::string preallocated_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Launch launch;
    const std::string_view script(reinterpret_cast<const char*>(data), size);
    launch.make_file(!script.starts_with("preallocated"));
    fuzz::damage(launch.file(), script);
    if (script.find("resealed") != std::string_view::npos) launch.reseal();
    const std::string before = bytes_of(launch.file());
    if (is_accepted([] { launch.go_on(); }))
        launch.check_end();
    else
        require(bytes_of(launch.file()) == before, "a file that is refused stays as it is");
    require(!std::filesystem::exists(launch.folder() / ".results.h5.partial"), "nothing is left beside the file");
    return 0;
}
