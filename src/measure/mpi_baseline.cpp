// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <fmt/format.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/job/error.hpp"
#include "a2aperf/job/watchdog.hpp"
#include "a2aperf/measure/engine.hpp"

namespace a2aperf {
namespace {

Nanoseconds after_root(const Job& job) {
    return job.is_root() ? 0 : Watchdog::kAfterRoot;
}

class MpiEngine final : public Engine {
public:
    MpiEngine(const Job& job, std::byte* send_buffer, std::byte* receive_buffer, int message_size)
        : send_buffer_(send_buffer), receive_buffer_(receive_buffer), message_size_(message_size),
          watchdog_(job.timeout() + after_root(job), Watchdog::kAfterSignal + after_root(job),
                    [&job, message_size](int signal_number) {
                        return job.leave_call(signal_number, fmt::format("MPI_Alltoall of {} B", message_size));
                    }) {}

    void prepare(std::uint64_t /*op*/) override { watchdog_.arm(); }
    // Testing the agreement moves MPI along; the deadline counts from its end.
    bool progress() override {
        watchdog_.arm();
        return false;
    }

    // MPI tells one moment only: when the send buffer is free and everything has arrived.
    Moments run() override {
        Watchdog::enter();
        const int status = MPI_Alltoall(send_buffer_, message_size_, MPI_BYTE, receive_buffer_, message_size_,
                                        MPI_BYTE, MPI_COMM_WORLD);
        const Nanoseconds end = now_ns();
        Watchdog::leave();
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
