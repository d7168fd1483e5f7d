// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <fmt/format.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/job/error.hpp"
#include "a2aperf/job/watchdog.hpp"
#include "a2aperf/measure/engine.hpp"

namespace a2aperf {
namespace {

class MpiEngine final : public Engine {
public:
    MpiEngine(const Job& job, std::byte* send_buffer, std::byte* receive_buffer, int message_size)
        : send_buffer_(send_buffer), receive_buffer_(receive_buffer), message_size_(message_size),
          watchdog_(
              job.timeout(),
              fmt::format("{}: MPI_Alltoall of {} B did not end within {}: a rank is stopped, dead or far behind",
                          job.who(job.rank()), message_size, format_duration(job.timeout())),
              job.is_root() ? fmt::format("stopped by a signal in an MPI_Alltoall of {} B that did not end within "
                                          "0.8 s; the complete points are in the file: --resume goes on with it",
                                          message_size)
                            : "") {}

    // Armed ahead of the start, so that the op itself makes no system call of ours.
    void prepare(std::uint64_t /*op*/) override { watchdog_.arm(); }
    bool progress() override { return false; } // testing the agreement moves MPI along

    // MPI tells one moment only: when the send buffer is free and everything has arrived.
    Moments run() override {
        watchdog_.enter();
        const int status = MPI_Alltoall(send_buffer_, message_size_, MPI_BYTE, receive_buffer_, message_size_,
                                        MPI_BYTE, MPI_COMM_WORLD);
        const Nanoseconds end = now_ns();
        watchdog_.disarm();
        check_mpi(status, "MPI_Alltoall");
        return {end, end};
    }

private:
    std::byte* send_buffer_;
    std::byte* receive_buffer_;
    int message_size_;
    Watchdog watchdog_;
};

} // namespace

std::unique_ptr<Engine> make_mpi_engine(const Job& job, std::byte* send_buffer, std::byte* receive_buffer,
                                        Bytes message_size) {
    return std::make_unique<MpiEngine>(job, send_buffer, receive_buffer, static_cast<int>(message_size));
}

} // namespace a2aperf
