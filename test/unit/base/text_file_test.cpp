// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/base/text_file.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <system_error>

#include <doctest/doctest.h>

#include "a2aperf/base/error.hpp"
#include "support/temporary_folder.hpp"

using namespace a2aperf;

namespace {

namespace fs = std::filesystem;

class Folder : public test::TemporaryFolder {
public:
    fs::path put(const char* name, const std::string& text) const {
        std::ofstream(*this / name, std::ios::binary) << text;
        return *this / name;
    }
};

std::string refusal(const fs::path& file, Bytes most = 100) {
    try {
        (void)read_text_file("--attach", file, most);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "accepted";
}

} // namespace

TEST_CASE("a file comes whole, up to the most that is read, also through a link") {
    const Folder folder;
    const std::string text = std::string("some\0text\n", 10) + std::string(200'000, 'x');
    CHECK(read_text_file("--attach", folder.put("a", text), text.size()) == text);
    fs::create_symlink(folder / "a", folder / "link");
    CHECK(read_text_file("--attach", folder / "link", text.size()) == text);
    CHECK(read_text_file("--attach", folder.put("empty", ""), 100).empty());
    CHECK_FALSE(read_text_file("--attach", "/proc/self/stat", 1U << 20U).empty()); // whose size is 0
}

TEST_CASE("the mark that editors put before a text is not of it, and what is kept as it stands has it") {
    const Folder folder;
    const std::string marked = "\xEF\xBB\xBF"
                               "0,1\n";
    CHECK(read_text_file("--traffic", folder.put("a", marked), 100) == "0,1\n");
    CHECK(read_plain_text("--attach", folder.put("a", marked), 100) == marked);
    CHECK(read_text_file("--traffic", folder.put("a", "\xEF\xBB"), 100) == "\xEF\xBB");
}

TEST_CASE("a text is written under a name of its own, and no link is followed") {
    const Folder folder;
    const fs::path file = folder / "a.toml";
    const fs::path partial = folder / ".a.toml.partial";
    const auto text_of = [](const fs::path& path) { return read_text_file("--config", path, 1'000'000); };
    const std::string text(200'000, 'x');
    write_text_file(file, text, false);
    CHECK(text_of(file) == text);
    CHECK_FALSE(fs::exists(partial));
    CHECK_THROWS_AS(write_text_file(file, "two", false), std::system_error);
    CHECK(text_of(file) == text);
    CHECK_FALSE(fs::exists(partial));
    folder.put(".a.toml.partial", "of a killed launch");
    write_text_file(file, "two", true);
    CHECK(text_of(file) == "two");

    const fs::path other = folder.put("other", "mine");
    fs::remove(file);
    fs::create_symlink(other, file);
    CHECK_THROWS_AS(write_text_file(file, "three", false), std::system_error);
    write_text_file(file, "three", true);
    CHECK(text_of(file) == "three");
    CHECK_FALSE(fs::is_symlink(file));
    fs::create_symlink(other, partial);
    CHECK_THROWS_AS(write_text_file(file, "four", true), std::system_error);
    CHECK(text_of(other) == "mine");
    CHECK(text_of(file) == "three");
    fs::remove(other);
    CHECK_THROWS_AS(write_text_file(file, "four", true), std::system_error); // the link leads nowhere
    CHECK_FALSE(fs::exists(other));
    CHECK_THROWS_AS(write_text_file(folder / "none" / "a", "x", true), std::system_error);
}

TEST_CASE("one byte more is refused, and nothing is kept of a file without end") {
    const Folder folder;
    CHECK(refusal(folder.put("a", std::string(101, 'x'))).ends_with("a' has more than the 100 B that are read"));
    const fs::path holes = folder.put("holes", "x");
    fs::resize_file(holes, 1ULL << 40U);
    CHECK(refusal(holes, 1U << 20U).ends_with("has more than the 1 MiB that are read"));
}

TEST_CASE("what is no file is named, at once") {
    CHECK(refusal("/nowhere/a.txt") == "--attach: cannot read '/nowhere/a.txt': No such file or directory");
    const Folder folder;
    REQUIRE(mkfifo((folder / "fifo").c_str(), 0600) == 0);
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::strncpy(address.sun_path, (folder / "socket").c_str(), sizeof address.sun_path - 1);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    CHECK(refusal(folder / "fifo").ends_with("fifo' is a pipe, not a file"));
    CHECK(refusal(folder / "socket").ends_with("socket' is a socket, not a file"));
    CHECK(refusal(folder / ".").ends_with("is a folder, not a file"));
    CHECK(refusal("/dev/zero") == "--attach: '/dev/zero' is a device, not a file");
    close(socket);
}

TEST_CASE("why a file cannot be read is said") {
    const Folder folder;
    CHECK(refusal(folder / "missing").ends_with("missing': No such file or directory"));
    CHECK(refusal(folder.put("file", "") / "below").ends_with("below': Not a directory"));
    fs::create_symlink("loop", folder / "loop");
    CHECK(refusal(folder / "loop").ends_with("loop': Too many levels of symbolic links"));
    const fs::path secret = folder.put("secret", "x");
    fs::permissions(secret, fs::perms::none);
    fs::permissions(secret.parent_path(), fs::perms::all);
    const uid_t self = geteuid();
    constexpr uid_t kNobody = 65534;
    if (self == 0) REQUIRE(seteuid(kNobody) == 0); // root may read every file
    const std::string said = refusal(secret);
    if (self == 0) REQUIRE(seteuid(self) == 0);
    CHECK(said.ends_with("secret': Permission denied"));
}
