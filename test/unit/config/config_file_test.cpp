// SPDX-License-Identifier: BSD-3-Clause
#include "config/config_file.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "support/arguments.hpp"
#include "support/usage.hpp"

using namespace a2aperf;
using a2aperf::test::catalogue;
using a2aperf::test::is_one_clear_line;
using a2aperf::test::parse_alltoall;
using a2aperf::test::refusal;

namespace {

// A file that goes when the test does.
class ConfigFile {
public:
    explicit ConfigFile(const std::string& text)
        : path_(std::filesystem::temp_directory_path() / ("a2aperf-config-" + std::to_string(getpid()) + ".toml")) {
        std::ofstream(path_) << text;
    }
    ~ConfigFile() { std::filesystem::remove(path_); }
    ConfigFile(const ConfigFile&) = delete;
    ConfigFile& operator=(const ConfigFile&) = delete;

    Options parse(std::vector<std::string> words = {}) const {
        words.insert(words.end(), {"--config", path_.string()});
        return parse_alltoall(words);
    }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

} // namespace

TEST_CASE("a file gives every kind of option") {
    const ConfigFile file("# what we run every week\n"
                          "provider = \"tcp\"\n"
                          "sizes = \"1KiB..4KiB*2,8000\"   # a comment\n"
                          "mode = [\"tagged\", \"write-imm\"]\n"
                          "schedule = shift,naive\n"
                          "window = [1, 8,\n"
                          "          \"all\"]\n"
                          "domain = \"0:a,1:b\"\n"
                          "ops = 50\n"
                          "shuffle-ranks = true\n"
                          "force = false\n"
                          "label = [\"firmware=10.9\", \"rack=a b\"]\n"
                          "output = 'weekly run.h5'\n");
    const Options options = file.parse();
    CHECK(options.provider == "tcp");
    CHECK(options.sizes == std::vector<Bytes>{1024, 2048, 4096, 8000});
    CHECK(options.modes == std::vector<std::string>{"tagged", "write-imm"});
    CHECK(options.schedules.size() == 2);
    CHECK(options.windows == std::vector<Window>{{1, 0}, {8, 0}, {}});
    CHECK(options.nic == "0:a,1:b");
    CHECK(options.ops == 50);
    CHECK(options.shuffle_ranks);
    CHECK(options.overwrite == Overwrite::refuse);
    REQUIRE(options.labels.size() == 2);
    CHECK(options.labels[1].first == "rack");
    CHECK(options.labels[1].second == "a b");
    CHECK(options.output == "weekly run.h5");
}

TEST_CASE("the command line counts for more than the file") {
    const ConfigFile file("ops = 50\nsizes = 8\nwarmup = 3\n");
    const Options options = file.parse({"--precision", "2%", "-m", "16:16"});
    CHECK(options.precision == 0.02);
    CHECK(options.ops == 100);
    CHECK(options.sizes == std::vector<Bytes>{16});
    CHECK(options.warmup == 3);
    CHECK(file.parse({"--ops", "7"}).ops == 7);
}

TEST_CASE("a mistake in the file is refused with one clear line that names the file") {
    struct Mistake {
        const char* text;
        const char* says;
    };
    for (const Mistake& mistake : {
             Mistake{"szies = 8\n", "unknown key 'szies' (did you mean sizes?): keys are the long option names"},
             Mistake{"-i = 8\n", "unknown key '-i'"},
             Mistake{"[alltoall]\nops = 8\n", "section [alltoall]: sections are not used"},
             Mistake{"alltoall.ops = 8\n", "section [alltoall]"},
             Mistake{"ops = 0\n", "--ops: '0' is not a whole number"},
             Mistake{"ops = 10\nwarmup = 1\nops = 20\n", "ops is given twice"},
             Mistake{"ops = [10, 20]\n", "--ops: '10,20'"},
             Mistake{"mode = \"taged\"\n", "unknown mode 'taged'"},
             Mistake{"mode = \"tagged\n", "has no closing quote"},
             Mistake{"mode = [tagged, msg\n", "mode: the list has no closing ']'"},
             Mistake{"label = [a=b\nmode = [tagged]\n", "label: the list has no closing ']'"},
             Mistake{"mode = []\n", "mode: the list is empty"},
             Mistake{"search = [true, 30s]\n", "--search: duration 'true,30s'"},
             Mistake{"force = maybe\n", "unknown flag value 'maybe'"},
             Mistake{"ops = 10\nprecision = 1%\n", "ops and precision exclude each other"},
             Mistake{"config = \"other.toml\"\n", "unknown key 'config'"},
             Mistake{"help = true\n", "unknown key 'help'"},
             Mistake{"", "the file is empty"},
         }) {
        const ConfigFile file(mistake.text);
        CAPTURE(std::string(mistake.text));
        const std::string line = refusal([&] { file.parse(); });
        CAPTURE(line);
        CHECK(line.starts_with("--config '" + file.path().string() + "': "));
        CHECK(line.find(mistake.says) != std::string::npos);
        CHECK(is_one_clear_line(line));
    }
}

// CLI11 before 2.4 takes it for a comment.
TEST_CASE("a '#' in quotes is kept or refused, and never cut") {
    const ConfigFile file("output = \"a#b.h5\"\n");
    std::string outcome;
    try {
        outcome = file.parse().output->string();
    } catch (const UsageError& error) {
        outcome = error.what();
    }
    const bool is_right = outcome == "a#b.h5" || outcome.find("has no closing quote") != std::string::npos;
    CHECK(is_right);
}

TEST_CASE("a key of another command is refused") {
    const ConfigFile file("ops = 5\nwindow = 4\n");
    CHECK(read_config_file(file.path().string(), alltoall().row(), catalogue()).size() == 2);
    CHECK(refusal([&] {
              read_config_file(file.path().string(), pairs().row(), catalogue());
          }).ends_with("window is not an option of a2aperf pairs"));
}

TEST_CASE("a folder is no file to read") {
    const std::string folder = std::filesystem::temp_directory_path().string();
    CHECK(refusal([&] {
              read_config_file(folder, alltoall().row(), catalogue());
          }).find("is a folder, not a file") != std::string::npos);
}
