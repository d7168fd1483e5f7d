// SPDX-License-Identifier: BSD-3-Clause
// What it costs a stream that each message carries its number and one in 16 is looked at: blocks with and without,
// by turns (A B B A), over one endpoint in one process. A rank sends to itself, so that both ends are in one thread
// and no other process has to have its core at the same time; a block is over before the kernel mostly gives the
// core to another, and the median leaves out those that are not. Launched with 1 rank; the first argument names the
// provider, the second how many pairs of blocks. By tag alone: where words tell of messages there is none without a
// number.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/fabric/provider.hpp"
#include "a2aperf/measure/channel.hpp"
#include "a2aperf/measure/credit_stream.hpp"
#include "a2aperf/measure/duration_loop.hpp"
#include "a2aperf/measure/mode_table.hpp"
#include "a2aperf/measure/mpi_transport.hpp"
#include "a2aperf/measure/op_loop.hpp"
#include "a2aperf/plan/stream_pairs.hpp"
#include "a2aperf/transfer/tagged.hpp"

namespace {

using namespace a2aperf;

constexpr int kWindow = 32;
constexpr std::array<Bytes, 3> kSizes{8, 64, 4096};
constexpr std::int64_t kMessages = 1000; // of a block
constexpr Bytes kRoom = (kWindow + kStreamCredits + 1) * (kSizes.back() + 64);
constexpr Duration kLong{.length = 600'000'000'000, .tick = 1'000'000'000, .ends_by_number = true};

struct Streams {
    Job& job;
    Channel& channel;
    OpLoop& ops;
    DurationLoop& durations;

    // ns that a message took, from the first send to the last arrival.
    double run(Bytes size, bool has_numbers) {
        StreamSettings settings{.to = {0}, .from = {0}, .window = kWindow, .most = kMessages};
        settings.matches_in_order = has_numbers; // without, a receive does not tell which message is due
        settings.op = ops.next_op();
        (void)ops.next_op(); // of the credits
        CreditStream<Tagged> stream(job, channel, size, settings);
        TickSamples samples(CreditStream<Tagged>::kCounters);
        durations.run(stream, kLong, samples);
        const FlowMoments moments = stream.moments();
        return static_cast<double>(moments.receive_done - moments.begin) / static_cast<double>(kMessages);
    }
};

void measure(Job& job, const std::string& provider, int pairs) {
    if (job.ranks() != 1) throw RunError("expected 1 rank");
    const std::vector<std::string> modes{"tagged"};
    const ProviderChoice choice =
        choose_provider(job, {provider, "nearest", modes, flow_demands(), mpi_uses_libfabric()});
    Channel channel(job, choice.offer,
                    {.buffer_bytes = kRoom, .spare_bytes = kSizes.back(), .queue_entries = 4 * kWindow});
    Deadline deadline(Polling::yield, job.timeout());
    const CommonClock clock;
    OpLoop ops(job, clock, deadline);
    DurationLoop durations(job, clock, deadline);
    Streams streams{job, channel, ops, durations};
    for (const Bytes size : kSizes) {
        streams.run(size, true); // connects and warms up
        std::vector<double> ratios, costs;
        for (int pair = 0; pair < pairs; ++pair) {
            const bool is_first = pair % 2 == 0;
            const double first = streams.run(size, is_first);
            const double second = streams.run(size, !is_first);
            const double with = is_first ? first : second, without = is_first ? second : first;
            ratios.push_back(without / with);
            costs.push_back(with - without);
        }
        std::ranges::sort(ratios);
        std::ranges::sort(costs);
        const auto n = static_cast<std::size_t>(pairs);
        std::printf(
            "%-6s %6lu B: %.3f of the messages/s without numbers (half of the pairs from %.3f to %.3f); they "
            "cost %.1f ns a message (%.1f to %.1f); %d pairs of blocks of %ld messages\n",
            provider.c_str(), static_cast<unsigned long>(size), ratios[n / 2], ratios[n / 4], ratios[3 * n / 4],
            costs[n / 2], costs[n / 4], costs[3 * n / 4], pairs, static_cast<long>(kMessages));
        std::fflush(stdout);
    }
}

} // namespace

int main(int argc, char** argv) {
    Job job(argc, argv, {});
    const std::string provider = argc > 1 ? argv[1] : "shm";
    const int pairs = argc > 2 ? std::atoi(argv[2]) : 1001;
    try {
        measure(job, provider, std::max(pairs, 1));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", job.who(job.rank()).c_str(), error.what());
        job.abort(1, error.what(), reason_of(error));
    }
    return 0;
}
