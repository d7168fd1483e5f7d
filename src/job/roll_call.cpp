// SPDX-License-Identifier: BSD-3-Clause
#include "roll_call.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "a2aperf/base/clock.hpp"
#include "tags.hpp"

namespace a2aperf {
namespace {

void send(MPI_Comm comm, int to, int tag, const std::vector<int>& ranks) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(ranks.data(), static_cast<int>(ranks.size()), MPI_INT, to, tag, comm, &request);
    MPI_Request_free(&request); // it is small: MPI takes it at once, or whoever it is for is gone
}

// The ranks of a message with this tag, if there is one.
bool receive(MPI_Comm comm, int tag, int& from, std::vector<int>& ranks) {
    int has_come = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &has_come, &status);
    if (has_come == 0) return false;
    int count = 0;
    MPI_Get_count(&status, MPI_INT, &count);
    ranks.resize(static_cast<std::size_t>(count));
    from = status.MPI_SOURCE;
    MPI_Recv(ranks.data(), count, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE);
    return true;
}

void rest() {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

} // namespace

RollCall::Answer RollCall::ask(MPI_Comm comm) {
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const int listeners = std::min(kListeners, ranks);
    // The second listener's answer to an earlier question.
    for (int from = 0; receive(comm, kRollAnswer, from, missing_);) {
    }
    for (int listener = 0; listener < listeners; ++listener)
        if (listener != rank) send(comm, listener, kRollCall, {});

    std::vector<bool> is_here(static_cast<std::size_t>(ranks));
    is_here[static_cast<std::size_t>(rank)] = true;
    missing_.clear();
    bool is_heard = true;
    if (rank < listeners) {
        listen(comm, is_here);
        for (int other = 0; other < ranks; ++other)
            if (!is_here[static_cast<std::size_t>(other)]) missing_.push_back(other);
        for (int other = listeners; other < ranks; ++other)
            if (other != rank && is_here[static_cast<std::size_t>(other)]) send(comm, other, kRollAnswer, missing_);
    } else if (is_heard = hear_answer(comm, missing_); !is_heard) {
        for (int listener = 0; listener < listeners; ++listener) missing_.push_back(listener);
    }
    return {missing_, is_heard};
}

void RollCall::listen(MPI_Comm comm, std::vector<bool>& is_here) {
    std::vector<int> nothing;
    for (const Nanoseconds begin = now_ns(); now_ns() - begin < kGrace;) {
        int from = 0;
        if (receive(comm, kRollCall, from, nothing))
            is_here[static_cast<std::size_t>(from)] = true;
        else
            rest();
    }
}

bool RollCall::hear_answer(MPI_Comm comm, std::vector<int>& missing) {
    for (const Nanoseconds begin = now_ns(); now_ns() - begin < kGrace + kForAnswer;) {
        int from = 0;
        if (receive(comm, kRollAnswer, from, missing)) return true;
        rest();
    }
    return false;
}

} // namespace a2aperf
