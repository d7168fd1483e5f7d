// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/clock_sync.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include <unistd.h>

namespace a2aperf {
namespace {

constexpr int kPingPongs = 16;                         // for one point
constexpr int kFirstPoints = 16;                       // of the line at the agreement
constexpr auto kPause = std::chrono::milliseconds(25); // between them: drift shows only over time
constexpr std::size_t kPoints = 32;                    // that a line is fitted to: real drifts wander
constexpr int kLeadersPerCheck = 16;                   // when resynchronising; rank 0 answers one after another

// One leader per clock domain. The children of leader i are i + 2^k for every 2^k > i.
class Tree {
public:
    Tree(const std::vector<int>& domain_of_rank, Rank self)
        : self_(domain_of_rank[static_cast<std::size_t>(self)]) {
        // Domains are numbered by their lowest rank.
        for (Rank rank = 0; rank < static_cast<Rank>(domain_of_rank.size()); ++rank)
            if (domain_of_rank[static_cast<std::size_t>(rank)] == size()) leaders_.push_back(rank);
        is_leader_ = leader(self_) == self;
    }

    int size() const { return static_cast<int>(leaders_.size()); }
    Rank leader(int domain) const { return leaders_[static_cast<std::size_t>(domain)]; }
    int self() const { return self_; } // this rank's domain
    bool is_leader() const { return is_leader_; }
    bool has_parent() const { return is_leader_ && self_ != 0; }
    static int parent(int domain) {
        return domain - static_cast<int>(std::bit_floor(static_cast<unsigned>(domain)));
    }

private:
    int self_;
    std::vector<Rank> leaders_;
    bool is_leader_ = false;
};

OffsetPoint ask(const Job& job, Rank peer, const LocalClock& clock) {
    std::array<PingPong, kPingPongs> taken{};
    for (PingPong& p : taken) {
        std::array<std::int64_t, 1> answer{};
        p.sent = clock.now();
        job.send(peer, answer);
        job.receive(peer, answer);
        p.received = clock.now();
        p.answered = answer.front();
    }
    return best_of(taken);
}

void answer(const Job& job, Rank peer, const LocalClock& clock) {
    for (int i = 0; i < kPingPongs; ++i) {
        std::array<std::int64_t, 1> time{};
        job.receive(peer, time);
        time.front() = clock.now();
        job.send(peer, time);
    }
}

// Every leader meets its parent once. In round k those below 2^k answer those below 2^(k+1).
void measure(const Job& job, const Tree& tree, const LocalClock& clock, std::vector<OffsetPoint>& points) {
    if (!tree.is_leader()) return;
    for (int half = 1; half < tree.size(); half *= 2) {
        if (tree.self() < half && tree.self() + half < tree.size())
            answer(job, tree.leader(tree.self() + half), clock);
        else if (tree.self() >= half && tree.self() < 2 * half)
            points.push_back(ask(job, tree.leader(tree.self() - half), clock));
    }
}

// Every rank's line to the common clock, [R], on every rank.
std::vector<CommonClock> lines_to_common(const Job& job, const Tree& tree, const ClockAgreement& agreement) {
    const CommonClock to_parent = tree.has_parent() ? fit_line(agreement.points) : CommonClock{};
    const auto to_parents = job.all_gather(to_parent);
    std::vector<CommonClock> of_leader(static_cast<std::size_t>(tree.size()));
    for (int i = 1; i < tree.size(); ++i) // parents have smaller numbers
        of_leader[static_cast<std::size_t>(i)] = compose(to_parents[static_cast<std::size_t>(tree.leader(i))],
                                                         of_leader[static_cast<std::size_t>(Tree::parent(i))]);
    std::vector<CommonClock> lines;
    lines.reserve(agreement.domain_of_rank.size());
    for (const int domain : agreement.domain_of_rank) lines.push_back(of_leader[static_cast<std::size_t>(domain)]);
    return lines;
}

// The largest error bound of `count` leaders from number `first` on, against rank 0 itself.
double check(const Job& job, const Tree& tree, const LocalClock& clock, const CommonClock& mine, int first,
             int count) {
    Nanoseconds bound = 0;
    for (int i = first; i < first + count; ++i) {
        const Rank leader = tree.leader(1 + i % (tree.size() - 1));
        if (job.is_root()) answer(job, leader, clock);
        if (job.rank() == leader) bound = error_bound(mine, ask(job, 0, clock));
    }
    return static_cast<double>(job.max(bound));
}

std::vector<int> number_domains(const std::vector<std::string>& names) {
    std::map<std::string, int> number;
    std::vector<int> domains;
    for (const auto& name : names)
        domains.push_back(number.try_emplace(name, static_cast<int>(number.size())).first->second);
    return domains;
}

} // namespace

LocalClock monotonic_clock() {
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    if (boot.empty()) { // no such file: a host is taken for a clock
        std::array<char, 256> name{};
        gethostname(name.data(), name.size() - 1);
        boot = name.data();
    }
    std::error_code none; // kernels before 5.6 have no time namespaces
    return {boot + " " + std::filesystem::read_symlink("/proc/self/ns/time", none).string(), now_ns};
}

ClockAgreement agree_on_clock(const Job& job, const LocalClock& clock) {
    ClockAgreement agreement;
    agreement.domain_of_rank = number_domains(job.all_gather_text(clock.domain));
    const Tree tree(agreement.domain_of_rank, job.rank());
    std::vector<CommonClock> lines(agreement.domain_of_rank.size());
    if (tree.size() > 1) {
        measure(job, tree, clock, agreement.points);
        for (int point = 1; point < kFirstPoints; ++point) {
            std::this_thread::sleep_for(kPause);
            measure(job, tree, clock, agreement.points);
        }
        lines = lines_to_common(job, tree, agreement);
        agreement.mine = lines[static_cast<std::size_t>(job.rank())];
        agreement.error_ns = check(job, tree, clock, agreement.mine, 0, tree.size() - 1);
    }
    if (!job.is_root()) return agreement;
    for (const CommonClock& line : lines) {
        agreement.offset.push_back(static_cast<double>(line.offset));
        agreement.drift.push_back(line.drift);
    }
    return agreement;
}

void resynchronise(const Job& job, ClockAgreement& agreement, const LocalClock& clock) {
    const Tree tree(agreement.domain_of_rank, job.rank());
    if (tree.size() == 1) return;
    const int others = tree.size() - 1;
    const int count = std::min(kLeadersPerCheck, others);
    const auto check_some = [&] {
        const double bound = check(job, tree, clock, agreement.mine, agreement.next_check, count);
        agreement.error_ns = std::max(agreement.error_ns, bound);
    };
    check_some();
    measure(job, tree, clock, agreement.points);
    if (agreement.points.size() > kPoints) agreement.points.erase(agreement.points.begin());
    agreement.mine = lines_to_common(job, tree, agreement)[static_cast<std::size_t>(job.rank())];
    agreement.next_check = (agreement.next_check + count) % others;
    check_some();
}

} // namespace a2aperf
