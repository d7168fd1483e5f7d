// SPDX-License-Identifier: BSD-3-Clause
// An MPI program that does nothing, which scaling.py holds a launch of ours against: every rank meets every other
// in a barrier, stays for so many seconds (0) that its memory can be looked at, and ends. Rank 0 prints when the
// barrier was over, in seconds since 1970.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        std::printf("%.3f\n", now.count());
        std::fflush(stdout);
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(argc > 1 ? std::atof(argv[1]) : 0));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
