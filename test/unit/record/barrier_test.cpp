// SPDX-License-Identifier: BSD-3-Clause
// What is on the disk when: every barrier of the recorder is seen here, and the file as it is at that moment is the
// least that a power cut leaves.
#include "record/barrier.hpp"

#include <cerrno>
#include <fstream>
#include <functional>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "launch.hpp"
#include "record/checksum.hpp"
#include "record/crc32.hpp"
#include "record/results_file.hpp"
#include "record/segment_group.hpp"
#include "support/file_bytes.hpp"
#include "support/temporary_folder.hpp"

using namespace a2aperf;
using test::Launch;

namespace {

std::function<int(int descriptor)> at_barrier;

} // namespace

// In the place of the C library's, for this program.
extern "C" int fdatasync(int descriptor) {
    if (at_barrier && at_barrier(descriptor) != 0) return -1;
    return static_cast<int>(syscall(SYS_fdatasync, descriptor));
}

namespace {

ResultsFile open_file(const std::filesystem::path& file) {
    return ResultsFile::open(file, h5::File::Access::read_only, test::kSchema);
}

// Keeps what the disk has at each barrier.
class Disk {
public:
    explicit Disk(const test::TemporaryFolder& folder) : image_(folder / "image.h5") {
        at_barrier = [this](int descriptor) {
            images_.push_back(test::bytes_of(fmt::format("/proc/self/fd/{}", descriptor)));
            return 0;
        };
    }
    Disk(const Disk&) = delete;
    Disk& operator=(const Disk&) = delete;
    ~Disk() { at_barrier = nullptr; }

    std::size_t barriers() const { return images_.size(); }
    ResultsFile at(std::size_t barrier) const {
        std::ofstream(image_, std::ios::binary) << images_.at(barrier);
        return open_file(image_);
    }

private:
    std::filesystem::path image_;
    std::vector<std::string> images_;
};

std::int64_t checksum_in(const ResultsFile& file, int point) {
    return file.columns.checksums().at(static_cast<std::size_t>(point));
}

bool is_right(const ResultsFile& file, int point) {
    return PointChecksums(file.file, file.extents.points).of(point) == checksum_in(file, point);
}

State state_in(const ResultsFile& file, int point) {
    return file.columns.states().at(static_cast<std::size_t>(point));
}

} // namespace

TEST_CASE("a barrier is due when ten times as long has passed as the last one took") {
    BarrierPace pace;
    CHECK(pace.is_due(1000)); // none was made
    pace.made(1000, 1007);
    CHECK_FALSE(pace.is_due(1007));
    CHECK_FALSE(pace.is_due(1007 + 69));
    CHECK(pace.is_due(1007 + 70));
    pace.made(2000, 2001);
    CHECK(pace.is_due(2001 + 10));
}

TEST_CASE("no point says that it is complete before its data and its checksum are on the disk") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    const Disk disk(folder);
    Recorder recorder = launch.create();
    const std::vector<int> order{8, 0, 3, 1, 2, 5, 6, 4};
    for (const int written : order) {
        recorder.write(written, launch.result(written));
        CHECK(recorder.is_complete(written)); // for this launch, whatever the disk has
        const ResultsFile now = open_file(launch.settings.file);
        CHECK(is_right(now, written));
        for (const int p : order) {
            if (state_in(now, p) != State::complete) continue;
            const ResultsFile safe = disk.at(disk.barriers() - 1);
            CAPTURE(p);
            CHECK(is_right(safe, p));
            CHECK(safe.columns.read("ops").at(static_cast<std::size_t>(p)) ==
                  now.columns.read("ops").at(static_cast<std::size_t>(p)));
        }
    }
    recorder.end(EndState::interrupted, "");
    const ResultsFile file = open_file(launch.settings.file);
    const ResultsFile safe = disk.at(disk.barriers() - 1);
    for (const int p : order) {
        CHECK(state_in(file, p) == State::complete);
        CHECK(is_right(safe, p));
    }
}

TEST_CASE("a point that is measured again is taken back on the disk before its data change") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    const Disk disk(folder);
    Recorder recorder = launch.create();
    recorder.write(3, launch.result(3));
    recorder.write(0, launch.result(0));
    recorder.end(EndState::running, ""); // all of it is there
    const std::size_t before = disk.barriers();
    PointResult again = launch.result(3);
    for (Nanoseconds& moment : again.samples.recv_done) moment += 5;
    recorder.write(3, again);
    REQUIRE(disk.barriers() >= before + 2);
    const auto first_sample = [](const ResultsFile& file) { return file.raw.read(3, {1}).recv_done.front(); };
    const Nanoseconds old = launch.result(3).samples.recv_done.front();
    for (const std::size_t i : {before, before + 1}) {
        const ResultsFile image = disk.at(i);
        CHECK(state_in(image, 3) == State::pending);
        CHECK(first_sample(image) == old);
        CHECK((checksum_in(image, 3) == kNoChecksum) == (i > before)); // never without one and complete
        CHECK(state_in(image, 0) == State::complete);
    }
    CHECK(recorder.is_complete(3));
    recorder.end(EndState::interrupted, "");
    const ResultsFile file = open_file(launch.settings.file);
    CHECK(state_in(file, 3) == State::complete);
    CHECK(first_sample(file) == old + 5);
    CHECK(is_right(file, 3));
}

TEST_CASE("a disk that refuses: nothing is called complete that is not on it, and the file says why it ended") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    {
        Recorder recorder = launch.create();
        recorder.write(0, launch.result(0));
        recorder.end(EndState::running, "");
        at_barrier = [](int) {
            errno = EIO;
            return -1;
        };
        const auto write_all = [&] {
            recorder.write(3, launch.result(3));
            recorder.end(EndState::finished, ""); // where the write did not wait for the disk
        };
        CHECK_THROWS_AS(write_all(), std::system_error);
        recorder.end(EndState::failed, "no disk"); // asks the disk no more
        at_barrier = nullptr;
    }
    const ResultsFile file = open_file(launch.settings.file);
    CHECK(state_in(file, 0) == State::complete);
    CHECK(state_in(file, 3) == State::pending);
    CHECK(file.segments.open_group("0").open_dataset("end_state").read<std::int8_t>().front() ==
          static_cast<std::int8_t>(EndState::failed));
    // What the kernel still has is good, and only the power can take it away.
    CHECK(file.reliable().states.at(3) == State::complete);
}

TEST_CASE("a disk that refused once: the next call tells nothing of what was lost, so nothing more is confirmed") {
    const test::TemporaryFolder folder;
    const Launch launch(folder / "a.h5");
    {
        Recorder recorder = launch.create();
        int calls = 0;
        at_barrier = [&](int) {
            errno = EIO;
            return ++calls == 1 ? -1 : 0;
        };
        const auto write_all = [&] {
            recorder.write(3, launch.result(3));
            recorder.end(EndState::finished, ""); // where the write did not wait for the disk
        };
        CHECK_THROWS_AS(write_all(), std::system_error);
        recorder.end(EndState::failed, "no disk");
        at_barrier = nullptr;
    }
    const ResultsFile file = open_file(launch.settings.file);
    CHECK(state_in(file, 3) == State::pending);
    CHECK(file.segments.open_group("0").open_dataset("end_state").read<std::int8_t>().front() ==
          static_cast<std::int8_t>(EndState::failed));
}
