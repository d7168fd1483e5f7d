// SPDX-License-Identifier: BSD-3-Clause
// Our all-to-all against the barest loop of the same calls of libfabric: post what the window allows, read the
// queue, count. It has no deadline, no memory of which message has come, and one look at the clock at its end. The
// two take turns, block by block (A B B A), in one process over one endpoint, the same connections, buffers and
// places; each op of both begins when all ranks are there, and takes as long as its slowest rank. To be launched
// with two ranks or more; waits have their deadline in mpirun.sh:
//
//   alltoall-loop PROVIDER [PAIRS [SIZES [MODES [WINDOWS]]]]      alltoall-loop net 21 8,1KiB tagged all,1
//
// A ratio is the loop's median op time over ours: above 1 where we are faster.
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/error.hpp"
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

constexpr int kOps = 20; // of a block
constexpr std::uint64_t kSeed = 1;

enum class Calls { tagged, msg, write_imm };

void require(ssize_t status, const char* call) {
    if (status != 0) throw RunError(std::string(call) + ": " + fi_strerror(static_cast<int>(-status)));
}

template <Calls kCalls>
class Bare final : public Engine {
public:
    Bare(const TransferContext& context, const Endpoint& endpoint, const Peers& peers, std::size_t window,
         bool is_injected, bool posts_receives, bool yields)
        : context_(context), queue_(endpoint.queue()), window_(window), is_injected_(is_injected),
          posts_receives_(posts_receives), yields_(yields), slots_(peers.sends.size() + peers.receives.size()) {
        Slot* slot = slots_.data();
        for (const Rank peer : peers.sends) sends_.push_back(context_.to(peer, slot++));
        first_receive_ = slot;
        for (const Rank peer : peers.receives) receives_.push_back(context_.from(peer, slot++));
        counts_sends_ = !is_injected_ || window_ != 0;
        if (window_ == 0) window_ = sends_.size();
    }

    void prepare(std::uint64_t op) override {
        label_ = Tagged::tag(op, context_.self);
        posted_ = sent_ = 0;
        left_ = receives_.size() + (counts_sends_ ? sends_.size() : 0);
        if (!posts_receives_) return;
        for (const Route& from : receives_) {
            ssize_t status = 0;
            while ((status = receive(from, Tagged::tag(op, from.peer))) == -FI_EAGAIN) progress();
            require(status, "posting a receive");
        }
    }

    bool progress() override {
        fi_cq_data_entry entries[16];
        const ssize_t count = fi_cq_read(queue_, entries, 16);
        if (count == -FI_EAGAIN) return false;
        if (count < 0) require(count, "fi_cq_read");
        left_ -= static_cast<std::size_t>(count);
        if (window_ < sends_.size())
            for (ssize_t i = 0; i < count; ++i) sent_ += is_send(entries[i].op_context) ? 1 : 0;
        return true;
    }

    Moments run() override {
        while (true) {
            while (posted_ < sends_.size() && posted_ - sent_ < window_) {
                const ssize_t status = send(sends_[posted_]);
                if (status == -FI_EAGAIN) break;
                require(status, "sending");
                ++posted_;
            }
            if (left_ == 0 && posted_ == sends_.size()) break;
            if (!progress() && yields_) sched_yield();
        }
        const Nanoseconds now = now_ns();
        return {now, now};
    }

private:
    bool is_send(const void* context) const {
        return context >= static_cast<const void*>(slots_.data()) &&
               context < static_cast<const void*>(first_receive_);
    }

    ssize_t receive(const Route& from, std::uint64_t tag) const {
        const TransferContext& c = context_;
        if constexpr (kCalls == Calls::tagged)
            return fi_trecv(c.endpoint, from.message, c.message_size, c.receive_descriptor, from.address, tag, 0,
                            &from.slot->context);
        if constexpr (kCalls == Calls::msg)
            return fi_recv(c.endpoint, from.message, c.message_size, c.receive_descriptor, FI_ADDR_UNSPEC,
                           &from.slot->context);
        return fi_recv(c.endpoint, nullptr, 0, nullptr, FI_ADDR_UNSPEC, &from.slot->context);
    }

    ssize_t send(const Route& to) const {
        if (!is_injected_) return send_plainly(to);
        return counts_sends_ ? send_counted(to) : inject(to);
    }

    ssize_t send_plainly(const Route& to) const {
        const TransferContext& c = context_;
        if constexpr (kCalls == Calls::tagged)
            return fi_tsend(c.endpoint, to.message, c.message_size, c.send_descriptor, to.address, label_,
                            &to.slot->context);
        if constexpr (kCalls == Calls::msg)
            return fi_senddata(c.endpoint, to.message, c.message_size, c.send_descriptor, data(), to.address,
                               &to.slot->context);
        return fi_writedata(c.endpoint, to.message, c.message_size, c.send_descriptor, data(), to.address,
                            to.remote_address, to.remote_key, &to.slot->context);
    }

    ssize_t inject(const Route& to) const {
        const TransferContext& c = context_;
        if constexpr (kCalls == Calls::tagged)
            return fi_tinject(c.endpoint, to.message, c.message_size, to.address, label_);
        if constexpr (kCalls == Calls::msg)
            return fi_injectdata(c.endpoint, to.message, c.message_size, data(), to.address);
        return fi_inject_writedata(c.endpoint, to.message, c.message_size, data(), to.address, to.remote_address,
                                   to.remote_key);
    }

    // With a completion, which a window needs.
    ssize_t send_counted(const Route& to) const {
        const TransferContext& c = context_;
        const iovec bytes{to.message, c.message_size};
        void* descriptor = c.send_descriptor;
        constexpr std::uint64_t kFlags = FI_INJECT | FI_COMPLETION;
        if constexpr (kCalls == Calls::tagged) {
            const fi_msg_tagged message{&bytes, &descriptor, 1, to.address, label_, 0, &to.slot->context, 0};
            return fi_tsendmsg(c.endpoint, &message, kFlags);
        } else if constexpr (kCalls == Calls::msg) {
            const fi_msg message{&bytes, &descriptor, 1, to.address, &to.slot->context, data()};
            return fi_sendmsg(c.endpoint, &message, kFlags | FI_REMOTE_CQ_DATA);
        } else {
            const fi_rma_iov target{to.remote_address, c.message_size, to.remote_key};
            const fi_msg_rma message{&bytes, &descriptor, 1, to.address, &target, 1, &to.slot->context, data()};
            return fi_writemsg(c.endpoint, &message, kFlags | FI_REMOTE_CQ_DATA);
        }
    }

    std::uint64_t data() const { return static_cast<std::uint32_t>(label_); }

    TransferContext context_;
    fid_cq* queue_;
    std::size_t window_;
    bool is_injected_, posts_receives_, yields_, counts_sends_ = true;
    std::vector<Slot> slots_; // of the sends, and behind them of the receives
    const Slot* first_receive_ = nullptr;
    std::vector<Route> sends_, receives_;
    std::uint64_t label_ = 0;
    std::size_t posted_ = 0, sent_ = 0, left_ = 0; // sent_: where the window holds back
};

std::unique_ptr<Engine> make_bare(const EngineParts& parts) {
    Channel& channel = *parts.channels.front();
    const Point& point = parts.point;
    const Offer& offer = channel.domain().offer();
    const Peers peers = point.peers(parts.job.rank(), parts.job.layout(), parts.seed);
    const TransferContext context = channel.context(point.message_size);
    const auto make = [&]<Calls kCalls>() -> std::unique_ptr<Engine> {
        return std::make_unique<Bare<kCalls>>(
            context, channel.endpoint(), peers, static_cast<std::size_t>(point.window), uses_inject(offer, point),
            kCalls != Calls::write_imm || offer.consumes_receive(), parts.deadline.yields());
    };
    if (point.mode == "tagged") return make.operator()<Calls::tagged>();
    if (point.mode == "msg") return make.operator()<Calls::msg>();
    return make.operator()<Calls::write_imm>();
}

// ns of each op, of the slowest rank.
std::vector<Nanoseconds> times(const EngineParts& parts, Engine& engine, int ops) {
    OwnSamples samples;
    samples.reserve(static_cast<std::size_t>(ops));
    parts.loop.run(engine, ops, samples);
    std::vector<Nanoseconds> mine;
    for (std::size_t op = 0; op < samples.size(); ++op)
        mine.push_back(std::max(samples.send_done[op], samples.receive_done[op]));
    const std::vector<Nanoseconds> all = parts.job.all_gather<Nanoseconds>(mine);
    for (std::size_t at = 0; at < all.size(); ++at) {
        Nanoseconds& slowest = mine[at % mine.size()];
        slowest = std::max(slowest, all[at]);
    }
    return mine;
}

double block(const EngineParts& parts, Engine& engine) {
    return median(times(parts, engine, kOps), PercentileRule::index);
}

// The loop moves what it says: one op, after which a message of every other rank is here, whole.
void require_messages(const EngineParts& parts, Engine& engine) {
    const TransferContext context = parts.channels.front()->context(parts.point.message_size);
    const Peers peers = parts.point.peers(parts.job.rank(), parts.job.layout(), parts.seed);
    const std::size_t size = context.message_size;
    const auto out = [&](Rank peer) { return context.to(peer, nullptr).message; };
    const auto in = [&](Rank peer) { return context.from(peer, nullptr).message; };
    for (const Rank peer : peers.sends) std::memset(out(peer), parts.job.rank() + 1, size);
    for (const Rank peer : peers.receives) std::memset(in(peer), 0, size);
    (void)times(parts, engine, 1);
    std::vector<Rank> came;
    for (const Rank peer : peers.receives) {
        const std::byte* const message = in(peer);
        if (!std::all_of(message, message + size, [&](std::byte one) { return one == message[0]; }))
            throw RunError("the loop's message is not whole");
        came.push_back(static_cast<Rank>(message[0]) - 1);
    }
    std::ranges::sort(came);
    std::vector<Rank> due = peers.receives;
    std::ranges::sort(due);
    if (came != due) throw RunError("the loop's messages are not of every other rank");
}

void compare(const EngineParts& parts, int pairs) {
    verify_channels(parts);
    const std::unique_ptr<Engine> ours = find_mode(parts.point.mode).make_engine(parts);
    const std::unique_ptr<Engine> bare = make_bare(parts);
    require_messages(parts, *bare);
    (void)block(parts, *ours);
    std::vector<double> ratios;
    std::vector<Nanoseconds> of_ours;
    for (int pair = 0; pair < pairs; ++pair) {
        double bare_time = pair % 2 == 0 ? block(parts, *bare) : 0;
        const double our_time = block(parts, *ours);
        if (pair % 2 != 0) bare_time = block(parts, *bare);
        ratios.push_back(bare_time / our_time);
        of_ours.push_back(static_cast<Nanoseconds>(our_time));
    }
    if (!parts.job.is_root()) return;
    std::ranges::sort(ratios);
    const auto n = static_cast<std::size_t>(pairs);
    const Point& point = parts.point;
    std::printf("%-12s %-10s %-4s %5d %8lu %10.2f  %5.3f  %5.3f to %5.3f  %5.3f to %5.3f %5d\n",
                parts.channels.front()->domain().offer().provider().c_str(), point.mode.c_str(),
                point.asked_window().c_str(), parts.job.ranks(), static_cast<unsigned long>(point.message_size),
                median(of_ours, PercentileRule::index) * kMicroseconds, ratios[n / 2], ratios[n / 4],
                ratios[3 * n / 4], ratios.front(), ratios.back(), pairs);
    std::fflush(stdout);
}

std::vector<std::string> listed(const std::string& text) {
    std::istringstream words(text);
    std::vector<std::string> all;
    for (std::string word; std::getline(words, word, ',');) all.push_back(word);
    return all;
}

int window_of(const std::string& text) {
    const int window = std::atoi(text.c_str());
    if (text != "all" && window < 1) throw UsageError("a window is a number above 0 or 'all', not '" + text + "'");
    return window;
}

struct Asked {
    std::string provider;
    int pairs;
    std::vector<std::string> sizes, modes, windows;
};

void measure(Job& job, const Asked& asked) {
    if (job.ranks() < 2) throw UsageError("expected two ranks or more");
    for (const std::string& mode : asked.modes)
        if (mode != "tagged" && mode != "msg" && mode != "write-imm")
            throw UsageError("the loop has tagged, msg and write-imm, not " + mode);
    const ProviderChoice choice =
        choose_provider(job, {asked.provider, "nearest", asked.modes, mode_demands(), mpi_uses_libfabric()});
    Bytes largest = 0;
    for (const std::string& size : asked.sizes) largest = std::max(largest, parse_bytes(size));
    ChannelSettings settings{.buffer_bytes = largest * static_cast<Bytes>(job.ranks()), .spare_bytes = largest};
    for (const std::string& mode : asked.modes) {
        settings.rights.source |= find_mode(mode).rights.source;
        settings.rights.target |= find_mode(mode).rights.target;
    }
    Channel channel(job, choice.offer, settings);
    const bool shares_cores = static_cast<unsigned>(job.ranks()) > std::thread::hardware_concurrency();
    Deadline deadline(shares_cores ? Polling::yield : Polling::spin, job.timeout());
    const CommonClock clock;
    OpLoop loop(job, clock, deadline);
    const std::vector<Channel*> channels{&channel};
    if (job.is_root())
        std::printf("%-12s %-10s %-4s %5s %8s %10s  %5s  %14s  %14s %5s\n", "provider", "mode", "win", "ranks", "B",
                    "ours us", "ratio", "half of pairs", "all pairs", "pairs");
    for (const std::string& mode : asked.modes)
        for (const std::string& window : asked.windows)
            for (const std::string& size : asked.sizes) {
                Point point;
                point.mode = mode;
                point.schedule = &find_schedule("shift");
                point.window = window_of(window);
                point.message_size = parse_bytes(size);
                compare({job, channels, loop, deadline, point, kSeed}, asked.pairs);
            }
}

} // namespace

int main(int argc, char** argv) {
    Job job(argc, argv, {});
    const auto word = [&](int at, const char* usual) { return std::string(argc > at ? argv[at] : usual); };
    try {
        measure(job, {word(1, "shm"), std::max(std::atoi(word(2, "21").c_str()), 1),
                      listed(word(3, "8,1KiB,8KiB,64KiB,256KiB")), listed(word(4, "tagged,msg,write-imm")),
                      listed(word(5, "all,1"))});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", job.who(job.rank()).c_str(), error.what());
        job.abort(1, error.what(), reason_of(error));
    }
    return 0;
}
