// SPDX-License-Identifier: BSD-3-Clause
// What code under test writes to stderr.
#pragma once

#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>

#include "support/temporary_folder.hpp"

namespace a2aperf::test {

template <class Function>
std::string stderr_of(Function function) {
    const TemporaryFolder folder;
    const auto file = folder / "stderr";
    std::fflush(stderr);
    const int saved = dup(STDERR_FILENO);
    const int captured = open(file.c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(captured, STDERR_FILENO);
    function();
    std::fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(captured);
    close(saved);
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace a2aperf::test
