// SPDX-License-Identifier: BSD-3-Clause
// What a job gives up with, and somebody who does not come back until it does.
#pragma once

#include <atomic>
#include <exception>
#include <string>
#include <vector>

#include "test/mpi/mpi_test.hpp"

namespace a2aperf::test {

class GivenUp {
public:
    GivenUp() {
        job().set_give_up([this](const std::exception& error) {
            said_.emplace_back(error.what());
            is_back_ = true; // else it would wait on
            is_back_.notify_all();
        });
    }
    ~GivenUp() { job().set_give_up({}); }
    GivenUp(const GivenUp&) = delete;
    GivenUp& operator=(const GivenUp&) = delete;

    // Of one thread at a time.
    void stay_away() {
        is_back_.wait(false);
        is_back_ = false;
    }
    const std::vector<std::string>& said() const { return said_; }

private:
    std::atomic<bool> is_back_{false};
    std::vector<std::string> said_;
};

} // namespace a2aperf::test
