// SPDX-License-Identifier: BSD-3-Clause
// A number that all ranks see: what tests wait for where ranks that agree on an op have no message of MPI to spare.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "test/mpi/mpi_test.hpp"

namespace a2aperf::test {

// Zero at first. Collective.
class SharedNumber {
public:
    SharedNumber() {
        std::string name = "/dev/shm/a2aperf-test-XXXXXX";
        int file = -1;
        if (job().is_root()) {
            file = mkstemp(name.data());
            if (file >= 0 && ftruncate(file, sizeof *number_) != 0) file = -1;
        }
        job().broadcast_text(name);
        if (!job().is_root()) file = open(name.c_str(), O_RDWR | O_CLOEXEC);
        REQUIRE(job().min(file) >= 0);
        void* const memory = mmap(nullptr, sizeof *number_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        REQUIRE(memory != MAP_FAILED);
        number_ = static_cast<std::atomic<int>*>(memory);
        close(file);
        if (job().is_root()) unlink(name.c_str());
    }
    ~SharedNumber() { munmap(number_, sizeof *number_); }
    SharedNumber(const SharedNumber&) = delete;
    SharedNumber& operator=(const SharedNumber&) = delete;

    void add() { number_->fetch_add(1); }
    bool is_at_least(int least) const { return number_->load() >= least; }
    void await(int least) const {
        while (!is_at_least(least)) {
            job().progress(); // an agreement under way needs all ranks
            sched_yield();
        }
    }

private:
    std::atomic<int>* number_ = nullptr;
};

} // namespace a2aperf::test
