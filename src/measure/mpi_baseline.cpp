// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

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

// Call: what MPI is asked to do, with the words for it.
template <class Call>
class MpiEngine final : public Engine {
public:
    MpiEngine(const Job& job, Call call)
        : call_(std::move(call)),
          watchdog_(
              job.timeout() + after_root(job), Watchdog::kAfterSignal + after_root(job),
              [&job, words = call_.words()](int signal_number) { return job.leave_call(signal_number, words); }) {}

    void prepare(std::uint64_t /*op*/) override { watchdog_.arm(); }
    // Testing the agreement moves MPI along; the deadline counts from its end.
    bool progress() override {
        watchdog_.arm();
        return false;
    }

    // MPI tells one moment only: when the send buffer is free and everything has arrived.
    Moments run() override {
        Watchdog::enter();
        const int status = call_();
        const Nanoseconds end = now_ns();
        Watchdog::leave();
        check_mpi(status, Call::kName);
        return {end, end};
    }

private:
    Call call_;
    Watchdog watchdog_;
};

struct AllToAll {
    static constexpr const char* kName = "MPI_Alltoall";
    std::byte* send_buffer;
    std::byte* receive_buffer;
    int message_size;

    std::string words() const { return fmt::format("{} of {} B", kName, message_size); }
    int operator()() const {
        return MPI_Alltoall(send_buffer, message_size, MPI_BYTE, receive_buffer, message_size, MPI_BYTE,
                            MPI_COMM_WORLD);
    }
};

// Counts and displacements by the ranks of MPI_COMM_WORLD.
struct AllToAllV {
    static constexpr const char* kName = "MPI_Alltoallv";
    std::byte* send_buffer;
    std::byte* receive_buffer;
    std::string traffic;
    std::vector<int> sends, send_at, receives, receive_at;

    std::string words() const { return fmt::format("{} of the traffic {}", kName, traffic); }
    int operator()() const {
        return MPI_Alltoallv(send_buffer, sends.data(), send_at.data(), MPI_BYTE, receive_buffer, receives.data(),
                             receive_at.data(), MPI_BYTE, MPI_COMM_WORLD);
    }
};

} // namespace

std::unique_ptr<Engine> make_mpi_engine(const Job& job, std::byte* send_buffer, std::byte* receive_buffer,
                                        Bytes message_size) {
    return std::make_unique<MpiEngine<AllToAll>>(
        job, AllToAll{send_buffer, receive_buffer, static_cast<int>(message_size)});
}

std::unique_ptr<Engine> make_mpi_engine(const Job& job, std::byte* send_buffer, std::byte* receive_buffer,
                                        const Traffic& traffic) {
    const MessagePlaces places = places_of(traffic, job.rank(), ReceivePlaces::of_source);
    const std::vector<int>& world = job.world_ranks();
    const auto by_world_rank = [&](const auto& of_rank) {
        std::vector<int> numbers(of_rank.size());
        for (std::size_t rank = 0; rank < of_rank.size(); ++rank)
            numbers[static_cast<std::size_t>(world[rank])] = static_cast<int>(of_rank[rank]);
        return numbers;
    };
    return std::make_unique<MpiEngine<AllToAllV>>(
        job, AllToAllV{send_buffer, receive_buffer, traffic.name(), by_world_rank(places.send),
                       by_world_rank(places.send_offset), by_world_rank(places.receive),
                       by_world_rank(places.receive_offset)});
}

} // namespace a2aperf
