// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/segment.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/child.hpp"
#include "support/temporary_folder.hpp"

using namespace a2aperf;

namespace {

namespace fs = std::filesystem;

// Stands for /dev/shm.
class Folder : public test::TemporaryFolder {
public:
    fs::path put(const std::string& name) const {
        std::ofstream(path() / name) << std::string(8192, 'x');
        return path() / name;
    }
};

struct Pipe {
    std::array<int, 2> ends{};
    Pipe() { REQUIRE(pipe(ends.data()) == 0); }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe() {
        for (const int end : ends) close(end);
    }
};

// What a process names its endpoint that lives until it is killed.
class Owner : public test::Child {
public:
    explicit Owner(const Pipe& pipe = Pipe())
        : Child([&] {
              const std::string name = new_segment_name();
              (void)!write(pipe.ends[1], name.data(), name.size());
          }) {
        std::array<char, 256> name{};
        const auto length = read(pipe.ends[0], name.data(), name.size());
        REQUIRE(length > 0);
        name_.assign(name.data(), static_cast<std::size_t>(length));
    }
    const std::string& name() const { return name_; }
    std::string name_with(int field, const std::string& other) const {
        std::string rest = name_;
        std::string changed;
        for (int i = 0; !rest.empty(); ++i) {
            const std::string part = rest.substr(0, rest.find('.'));
            changed += (i == 0 ? "" : ".") + (i == field ? other : part);
            rest.erase(0, part.size() + 1);
        }
        return changed;
    }

private:
    std::string name_;
};

constexpr int kIds = 1, kTimes = 2, kProcess = 3, kStarted = 4;

} // namespace

TEST_CASE("every endpoint of a process has a name of its own, fit for a file and an address") {
    std::set<std::string> names;
    for (int i = 0; i < 11; ++i) names.insert(new_segment_name());
    CHECK(names.size() == 11);
    for (const std::string& name : names) {
        CHECK(name.find('/') == std::string::npos);
        CHECK(name.size() < 100);
        CHECK(name.find(fmt::format(".{}.", getpid())) != std::string::npos);
    }
}

TEST_CASE("files of a process that was killed go, with those of its messages, and are counted") {
    const Folder folder;
    Owner reaped;
    const Owner unreaped;
    const std::array files{folder.put(reaped.name()), folder.put(reaped.name() + "_17"),
                           folder.put(unreaped.name())};
    CHECK(remove_dead_segments(folder.path()).files == 0);
    reaped.end();
    unreaped.kill();
    const RemovedSegments removed = remove_dead_segments(folder.path());
    CHECK(removed.files == 3);
    CHECK(removed.bytes >= 3 * 8192);
    for (const fs::path& file : files) CHECK_FALSE(fs::exists(file));
    CHECK(remove_dead_segments(folder.path()).files == 0);
}

TEST_CASE("files of processes that live stay, also those of this one") {
    const Folder folder;
    const Owner other;
    const std::array files{folder.put(new_segment_name()), folder.put(other.name())};
    CHECK(remove_dead_segments(folder.path()).files == 0);
    for (const fs::path& file : files) CHECK(fs::exists(file));
}

TEST_CASE("a process that leaves removes its own files, with those of its messages, and nobody else's") {
    const Folder folder;
    const Owner other;
    const std::string own = new_segment_name();
    const std::array files{folder.put(own), folder.put(own + "_17")};
    const fs::path of_other = folder.put(other.name());
    remove_own_segments(folder.path());
    for (const fs::path& file : files) CHECK_FALSE(fs::exists(file));
    CHECK(fs::exists(of_other));
}

TEST_CASE("a later process with the same id keeps nothing") {
    const Folder folder;
    const Owner later;
    const fs::path file = folder.put(later.name_with(kStarted, "1"));
    CHECK(remove_dead_segments(folder.path()).files == 1);
    CHECK_FALSE(fs::exists(file));
}

TEST_CASE("what is not certainly of a dead process of ours stays") {
    const Folder folder;
    Owner dead;
    dead.end();
    const std::string& name = dead.name();
    for (const std::string& other : {
             dead.name_with(kIds, "1"),               // of other process ids
             dead.name_with(kTimes, "1"),             // of another time
             dead.name_with(kProcess, "0"),           // to kill() that is this group of processes
             dead.name_with(kProcess, "-1"),          // and that is everybody
             dead.name_with(kProcess, "99999999999"), // no process id
             dead.name_with(kProcess, ""),
             dead.name_with(kStarted, ""),
             dead.name_with(kStarted, "12x"),
             name + ".more",
             name + "x",
             name + "_",
             name + "_x",
             name.substr(0, name.rfind('.')),
             name.substr(0, name.rfind('.') + 1),
             "x" + name,
             std::string("a2aperf.h5"),
             fmt::format("{}:{}:0", getpid(), getuid()),
             std::string("vader_segment.node.0.1.0"),
         })
        folder.put(other);
    const auto count = std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator());
    CHECK(count == 18);
    CHECK(remove_dead_segments(folder.path()).files == 0);
    CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == count);
}

TEST_CASE("what is no regular file stays") {
    const Folder folder;
    Owner dead;
    const fs::path target = folder.put("target");
    fs::create_symlink(target, folder.path() / dead.name());
    fs::create_directory(folder.path() / dead.name_with(5, "1"));
    REQUIRE(mkfifo((folder.path() / dead.name_with(5, "2")).c_str(), 0600) == 0);
    dead.end();
    CHECK(remove_dead_segments(folder.path()).files == 0);
    CHECK(fs::exists(target));
    CHECK(fs::is_symlink(folder.path() / dead.name()));
    CHECK(fs::is_directory(folder.path() / dead.name_with(5, "1")));
    CHECK(fs::is_fifo(folder.path() / dead.name_with(5, "2")));
}

TEST_CASE("another user's files stay") {
    const Folder folder;
    Owner dead;
    const fs::path file = folder.put(dead.name());
    dead.end();
    if (chown(file.c_str(), 12345, 12345) != 0) {
        MESSAGE("skipped: giving a file away takes root");
        return;
    }
    CHECK(remove_dead_segments(folder.path()).files == 0);
    CHECK(fs::exists(file));
}

TEST_CASE("without the folder nothing is removed") {
    CHECK(remove_dead_segments("/nowhere/at/all").files == 0);
}
