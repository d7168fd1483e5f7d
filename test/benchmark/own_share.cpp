// SPDX-License-Identifier: BSD-3-Clause
// How much of a timed op is ours: from the start to the first post, and from the return of the completion queue
// with the last completion to the recorded end. Launched with 2 or more ranks; the first argument names the
// provider.
#include <rdma/fi_eq.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/fabric/provider.hpp"
#include "a2aperf/measure/channel.hpp"
#include "a2aperf/measure/engine.hpp"
#include "a2aperf/measure/mode_table.hpp"
#include "a2aperf/measure/mpi_transport.hpp"
#include "a2aperf/measure/op_loop.hpp"
#include "a2aperf/stats/percentile.hpp"
#include "a2aperf/transfer/tagged.hpp"

namespace {

using namespace a2aperf;

constexpr Bytes kMessage = 60000;
constexpr int kOps = 300;

Nanoseconds g_first_post = 0; // of the op under way
Nanoseconds g_last_read = 0;  // when the queue last gave something
fi_ops_cq* g_queue = nullptr; // the provider's own

// A mode that looks at the clock at its first post.
struct Probe : Tagged {
    static ssize_t send(const TransferContext& context, const Route& to, std::uint64_t label) {
        if (g_first_post == 0) g_first_post = now_ns();
        return Tagged::send(context, to, label);
    }
};

ssize_t read_and_note(fid_cq* queue, void* entries, size_t count) {
    const ssize_t got = g_queue->read(queue, entries, count);
    if (got > 0) g_last_read = now_ns();
    return got;
}

Nanoseconds cost_of_clock() {
    constexpr int kReads = 1000;
    const Nanoseconds begin = now_ns();
    for (int i = 0; i < kReads; ++i) (void)now_ns();
    return (now_ns() - begin) / kReads;
}

void measure(Job& job, const std::string& provider) {
    const std::vector<std::string> modes{"tagged"};
    const ProviderChoice choice =
        choose_provider(job, {provider, "nearest", modes, mode_demands(), mpi_uses_libfabric()});
    Channel channel(job, choice.offer,
                    {.buffer_bytes = kMessage * static_cast<Bytes>(job.ranks()), .spare_bytes = kMessage});
    Deadline deadline(job.ranks() > 2 ? Polling::yield : Polling::spin, job.timeout());
    const CommonClock clock;
    OpLoop loop(job, clock, deadline);
    Point point;
    point.schedule = &find_schedule("shift");
    const Peers peers = point.peers(job.rank(), job.layout(), 1);
    FabricEngine<Probe> engine(
        Exchange<Probe>(channel.context(kMessage), channel.endpoint(), peers.sends, peers.receives, {}, deadline),
        Post::before, {});
    OwnSamples samples;
    samples.reserve(kOps);
    loop.run(engine, 20, samples); // connects and warms up

    fid_cq* queue = channel.endpoint().queue();
    g_queue = queue->ops;
    fi_ops_cq noting = *g_queue;
    noting.read = read_and_note;
    queue->ops = &noting;
    std::vector<Nanoseconds> shares;
    std::vector<Nanoseconds> times;
    const Nanoseconds clock_cost = cost_of_clock();
    for (int op = 0; op < kOps; ++op) {
        samples.clear();
        g_first_post = 0;
        const Nanoseconds before = now_ns();
        if (loop.run(engine, 1, samples) != 1) break;
        const Nanoseconds begin = samples.start.front();
        const Nanoseconds end = begin + std::max(samples.send_done.front(), samples.receive_done.front());
        // What was read after the end belongs to the agreement; such an op is not used.
        if (begin < before || g_last_read > end) continue;
        shares.push_back(std::max<Nanoseconds>(g_first_post - begin - clock_cost, 0) +
                         std::max<Nanoseconds>(end - g_last_read - clock_cost, 0));
        times.push_back(end - begin);
    }
    queue->ops = g_queue;
    const double share = times.empty() ? 0 : median(shares, PercentileRule::index);
    const double time = times.empty() ? 1 : median(times, PercentileRule::index);
    const auto all_shares = job.gather<double>(std::span(&share, 1));
    const auto all_times = job.gather<double>(std::span(&time, 1));
    if (!job.is_root()) return;
    for (Rank rank = 0; rank < job.ranks(); ++rank) {
        const auto at = static_cast<std::size_t>(rank);
        std::printf(
            "%-6s rank %d of %d: ours %4.0f ns of %8.0f ns at %lu B: %.2f %% (medians of %zu ops on rank 0)\n",
            provider.c_str(), rank, job.ranks(), all_shares[at], all_times[at],
            static_cast<unsigned long>(kMessage), 100 * all_shares[at] / all_times[at], times.size());
    }
}

} // namespace

int main(int argc, char** argv) {
    Job job(argc, argv, {});
    const std::string provider = argc > 1 ? argv[1] : "shm";
    try {
        measure(job, provider);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", job.who(job.rank()).c_str(), error.what());
        job.abort(1, error.what(), reason_of(error));
    }
    return 0;
}
