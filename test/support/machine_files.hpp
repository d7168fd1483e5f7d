// SPDX-License-Identifier: BSD-3-Clause
// The files of a made-up machine, /sys and /proc, in a folder of their own.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "support/temporary_folder.hpp"

namespace a2aperf::test {

class MachineFiles {
public:
    void write(const std::string& name, const std::string& text) const {
        const std::filesystem::path file = folder_.path() / name;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text << '\n';
    }
    std::string root() const { return folder_.path().string(); }

private:
    TemporaryFolder folder_;
};

} // namespace a2aperf::test
