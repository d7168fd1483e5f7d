// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/roce_class.hpp"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "a2aperf/base/text_file.hpp"
#include "support/temporary_folder.hpp"

using namespace a2aperf;
using test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

// As the kernel fills it.
struct Adapter {
    explicit Adapter(const fs::path& folder) : file(folder / "mlx5_0/ports/1/default_roce_tos") {
        fs::create_directories(file.parent_path());
        std::ofstream(file) << "32\n";
    }
    std::string now() const { return first_line(file); }
    fs::path file;
};

} // namespace

TEST_CASE("what connections are opened with is set while it is asked for, and given back") {
    const TemporaryFolder folder;
    const Adapter adapter(folder.path());
    {
        RoceClass roce(folder.path(), "mlx5_0", "1");
        REQUIRE(roce.can_be_set());
        CHECK(roce.trouble().empty());
        CHECK(adapter.now() == "32");
        CHECK(roce.set(184));
        CHECK(adapter.now() == "184");
        CHECK(roce.set(40));
        CHECK(adapter.now() == "40");
    }
    CHECK(adapter.now() == "32");
    CHECK(fs::exists(adapter.file)); // it was there before
}

TEST_CASE("what was not set is not given back") {
    const TemporaryFolder folder;
    const Adapter adapter(folder.path());
    {
        const RoceClass roce(folder.path(), "mlx5_0", "1");
        std::ofstream(adapter.file) << "8\n"; // by another process
    }
    CHECK(adapter.now() == "8");
}

TEST_CASE("where the kernel has no such number, nothing can be set and nothing is left behind") {
    const TemporaryFolder folder;
    {
        RoceClass none(folder.path() / "rdma_cm", "mlx5_0", "1");
        CHECK_FALSE(none.can_be_set());
        CHECK(none.trouble() == "default_roce_tos of mlx5_0/1: No such file or directory");
        CHECK_FALSE(none.set(184));
        RoceClass empty(folder.path(), "mlx5_0", "1"); // a folder that the kernel does not fill
        CHECK_FALSE(empty.can_be_set());
        CHECK(empty.trouble() == "default_roce_tos of mlx5_0/1: No such file or directory");
    }
    CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("why it cannot be set is told") {
    const TemporaryFolder folder;
    const Adapter adapter(folder.path());
    std::ofstream(adapter.file).close();
    const RoceClass empty(folder.path(), "mlx5_0", "1");
    CHECK_FALSE(empty.can_be_set());
    CHECK(empty.trouble() == "default_roce_tos of mlx5_0/1 is empty");

    fs::remove(adapter.file);
    const RoceClass none(folder.path(), "mlx5_0", "1"); // of an older kernel
    CHECK_FALSE(none.can_be_set());
    CHECK(none.trouble() == "default_roce_tos of mlx5_0/1: No such file or directory");
    std::ofstream(folder.path() / "no_folder").close();
    const RoceClass other(folder.path() / "no_folder", "mlx5_0", "1");
    CHECK(other.trouble() == "default_roce_tos of mlx5_0/1: Not a directory");
}

TEST_CASE("a type of service that the kernel does not take is a trouble") {
    const TemporaryFolder folder;
    const Adapter adapter(folder.path());
    RoceClass roce(folder.path(), "mlx5_0", "1");
    REQUIRE(roce.can_be_set());
    fs::remove(adapter.file);
    fs::create_symlink("/proc/version", adapter.file); // takes nothing
    CHECK_FALSE(roce.set(184));
    CHECK(roce.trouble() == "default_roce_tos of mlx5_0/1: 184 was not taken");
}
