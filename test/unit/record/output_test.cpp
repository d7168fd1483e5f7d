// SPDX-License-Identifier: BSD-3-Clause
#include "record/output.hpp"

#include <fstream>
#include <functional>
#include <sys/resource.h>
#include <sys/stat.h>

#include <doctest/doctest.h>

#include "a2aperf/base/error.hpp"
#include "launch.hpp"
#include "support/temporary_folder.hpp"

using namespace a2aperf;
using test::complaint;
using test::contains;

namespace {

void write(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file) << text;
}

std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace

TEST_CASE("outputs that can't be are refused, with the way out") {
    const test::TemporaryFolder folder;
    write(folder / "file", "x");
    const auto check = [](const std::filesystem::path& file) {
        return [=] { check_output(file, false, false, test::kSchema); };
    };
    CHECK(contains(complaint(check(folder / "missing" / "a.h5")), "does not exist"));
    CHECK(contains(complaint(check(folder / "file" / "a.h5")), "is not a folder"));
    CHECK(contains(complaint(check(folder / "file")), "exists already"));
    CHECK(contains(complaint(check(folder.path())), "is not a file"));
    CHECK(contains(complaint(check("/dev/null")), "is not a file"));
    CHECK(contains(complaint([] { check_output("/dev/null", false, true, test::kSchema); }), "is not a file"));
    CHECK(complaint(check(folder / "a.h5")).empty());
    CHECK(complaint([&] {
              check_output(folder / "a.h5", true, false, test::kSchema);
          }).empty()); // nothing to resume yet
    CHECK(complaint([&] { check_output(folder / "file", false, true, test::kSchema); }).empty());
    CHECK(text_of(folder / "file") == "x");
}

TEST_CASE("a file that could outgrow the disk or the process's limit is refused before it is made") {
    const test::TemporaryFolder folder;
    test::Launch launch(folder / "a.h5");
    launch.settings.max_attempts = 2'000'000'000;
    launch.layout = Layout::blocks(20'000, 100);
    launch.provenance = test::synthetic_provenance(launch.layout);
    const std::string words = complaint([&] { launch.create(); });
    CHECK(contains(words, "9 points of up to 2000000000 ops on 20000 ranks"));
    CHECK(contains(words, "free"));
    CHECK(std::filesystem::is_empty(folder.path()));

    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit small = before;
    small.rlim_cur = 100'000;
    setrlimit(RLIMIT_FSIZE, &small);
    const std::string limited = complaint([&] { test::Launch(folder / "a.h5").create(); });
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(contains(limited, "may write files of 100 kB only"));
    CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a replacement is invisible until it is published") {
    const test::TemporaryFolder folder;
    write(folder / "a", "old");
    {
        const Replacement replacement(folder / "a");
        write(replacement.path(), "new");
        CHECK(text_of(folder / "a") == "old");
    }
    CHECK(text_of(folder / "a") == "old");
    Replacement replacement(folder / "a");
    write(replacement.path(), "new");
    const FileLock lock = replacement.publish(Existing::replace);
    CHECK(text_of(folder / "a") == "new");
    CHECK_FALSE(std::filesystem::exists(folder / ".a.partial"));
}

TEST_CASE("what a killed launch left is taken over") {
    const test::TemporaryFolder folder;
    { test::Launch(folder / "results").create(); }
    const std::string whole = text_of(folder / "results");
    const std::string begun = whole.substr(0, 60'000);
    for (const std::string& left :
         {whole, begun, whole.substr(0, 96), whole.substr(0, 96) + std::string(4000, '\0'), std::string()}) {
        CAPTURE(left.size());
        write(folder / ".a.partial", left);
        CHECK(complaint([&] { check_output(folder / "a", false, true, test::kSchema); }).empty());
        Replacement replacement(folder / "a");
        write(replacement.path(), "new");
        const FileLock lock = replacement.publish(Existing::replace);
        CHECK(text_of(folder / "a") == "new");
    }
}

TEST_CASE("a name taken meanwhile is kept") {
    const test::TemporaryFolder folder;
    Replacement replacement(folder / "a");
    write(folder / "a", "theirs");
    CHECK(contains(complaint([&] { replacement.publish(Existing::keep); }), "exists already"));
    CHECK(text_of(folder / "a") == "theirs");
}

TEST_CASE("two launches can't make the same file at once") {
    const test::TemporaryFolder folder;
    const Replacement first(folder / "a");
    CHECK(
        contains(complaint([&] { const Replacement second(folder / "a"); }), "is being written by another launch"));
    CHECK(std::filesystem::exists(folder / ".a.partial"));
}

TEST_CASE("what no launch left under the temporary name is refused, and neither followed nor written") {
    const test::TemporaryFolder folder;
    write(folder / "victim", "theirs");
    const auto partial = folder / ".a.partial";
    const auto is_refused = [&](const std::string& what) {
        for (const auto& attempt :
             {std::function<void()>([&] { const Replacement replacement(folder / "a"); }),
              std::function<void()>([&] { check_output(folder / "a", false, false, test::kSchema); })}) {
            const std::string words = complaint(attempt);
            CHECK(contains(words, partial.string()));
            CHECK(contains(words, what));
        }
        CHECK(std::filesystem::exists(std::filesystem::symlink_status(partial)));
        std::filesystem::remove(partial);
    };
    std::filesystem::create_symlink("victim", partial);
    is_refused("a symbolic link");
    std::filesystem::create_symlink("dangling", partial);
    is_refused("a symbolic link");
    CHECK_FALSE(std::filesystem::exists(folder / "dangling"));
    std::filesystem::create_directory(partial);
    is_refused("not a file");
    REQUIRE(mkfifo(partial.c_str(), 0600) == 0);
    is_refused("not a file");
    for (const char* theirs :
         {"precious", "\x89HDF\r\n\x1a\n of another program, which is longer than a superblock and has "
                      "none of the attributes that we begin with"}) {
        write(partial, theirs);
        is_refused("not what a launch begins");
    }
    CHECK(text_of(folder / "victim") == "theirs");
}

TEST_CASE("a leftover that has a second name keeps its contents there") {
    const test::TemporaryFolder folder;
    { test::Launch(folder / "second").create(); }
    const std::string kept = text_of(folder / "second");
    std::filesystem::create_hard_link(folder / "second", folder / ".a.partial");
    const Replacement replacement(folder / "a");
    write(replacement.path(), "new");
    CHECK(text_of(folder / "second") == kept);
}

TEST_CASE("what is put in the place of a file under way is not written, published or removed") {
    const test::TemporaryFolder folder;
    write(folder / "victim", "theirs");
    const auto partial = folder / ".a.partial";
    {
        Replacement replacement(folder / "a");
        std::filesystem::rename(partial, folder / "elsewhere");
        std::filesystem::create_symlink("victim", partial);
        write(replacement.path(), "new");
        CHECK_THROWS_AS(replacement.publish(Existing::replace), RunError);
    }
    CHECK(std::filesystem::is_symlink(partial));
    CHECK(text_of(folder / "victim") == "theirs");
    CHECK(text_of(folder / "elsewhere") == "new");
    CHECK_FALSE(std::filesystem::exists(folder / "a"));
}

TEST_CASE("a new file has the rights that the umask leaves, whatever a leftover had") {
    const test::TemporaryFolder folder;
    write(folder / ".a.partial", "");
    std::filesystem::permissions(folder / ".a.partial", std::filesystem::perms::all);
    const mode_t before = umask(0027);
    const Replacement replacement(folder / "a");
    umask(before);
    CHECK((std::filesystem::status(folder / ".a.partial").permissions() & std::filesystem::perms::all) ==
          std::filesystem::perms{0640});
}

TEST_CASE("an output that is a link to nothing is refused") {
    const test::TemporaryFolder folder;
    std::filesystem::create_symlink("nowhere", folder / "a");
    CHECK(contains(complaint([&] { check_output(folder / "a", false, true, test::kSchema); }), "leads nowhere"));
}

TEST_CASE("a link is followed, not replaced") {
    const test::TemporaryFolder folder;
    write(folder / "real", "old");
    std::filesystem::create_symlink("real", folder / "link");
    CHECK(resolve(folder / "link") == std::filesystem::canonical(folder / "real"));
}
