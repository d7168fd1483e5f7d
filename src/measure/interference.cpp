// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/interference.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/measure/channels.hpp"
#include "a2aperf/measure/credit_stream.hpp"
#include "a2aperf/measure/echo_engine.hpp"
#include "a2aperf/measure/flow_modes.hpp"
#include "a2aperf/plan/interference_plan.hpp"
#include "granted_class.hpp"
#include "interference_rows.hpp"
#include "interference_side.hpp"
#include "victim_exchange.hpp"
#include "victim_stream.hpp"

namespace a2aperf {
namespace {

// Victims that make round trips: silent while the load is measured alone. A client asks again when it has its
// answer, and the gap since its last request is over.
template <class Mode>
class VictimEcho : public InterferenceSide<EchoEngine<Mode>> {
    using InterferenceSide<EchoEngine<Mode>>::flow_;

public:
    static constexpr std::array<std::string_view, 2> kCounters{"sent", "received"};

    VictimEcho(const Job& job, Channel& channel, Bytes answer_size, const EchoSettings& settings,
               const InterferencePlan& plan)
        : InterferenceSide<EchoEngine<Mode>>(job, channel, answer_size, settings), phases_(plan.phases),
          gap_(plan.gap) {
        if (!settings.servers.empty())
            role_ = RankRole::client;
        else if (!settings.clients.empty())
            role_ = RankRole::server;
    }

    RankRole role() const { return role_; }
    void reserve(std::size_t most_samples) { flow_.reserve(most_samples); }
    void open(Nanoseconds start, Nanoseconds) {
        start_ = start;
        next_ = start + phases_.begin(1);
    }
    bool advance() {
        if (const Nanoseconds now = now_ns(); now < next_) return flow_.progress();
        const bool has_moved = flow_.advance();
        if (role_ == RankRole::client && flow_.counters()[0] != sent_) {
            sent_ = flow_.counters()[0];
            next_ = now_ns() + gap_;
        }
        return has_moved;
    }
    std::int64_t lost() const { return flow_.kept().lost; }

    InterferenceRows rows() const {
        const KeptSamples kept = flow_.kept();
        InterferenceRows rows;
        for (std::size_t i = 0; i < kept.moments.size(); ++i)
            rows.add_time(kept.moments[i], start_, phases_, kept.values[0][i]);
        return rows;
    }

private:
    Phases phases_;
    Nanoseconds gap_;
    RankRole role_ = RankRole::idle;
    Nanoseconds start_ = 0, next_ = 0;
    std::uint64_t sent_ = 0;
};

// The load's side. In the first phase each rank sees how many messages a second it can send; of a level below 100 %
// it sends that share of them, evenly, whenever there is load.
template <class Mode>
class LoadEnd : public InterferenceSide<CreditStream<Mode>> {
    using InterferenceSide<CreditStream<Mode>>::flow_;

public:
    static constexpr std::array<std::string_view, 2> kCounters{"sent", "received"};

    LoadEnd(const Job& job, Channel& channel, const StreamSettings& settings, const InterferencePlan& plan)
        : InterferenceSide<CreditStream<Mode>>(job, channel, plan.load_size, settings), phases_(plan.phases),
          level_(plan.level) {
        rows_.reserve(static_cast<std::size_t>(phases_.count()));
    }

    RankRole role() const { return RankRole::load; }
    void reserve(std::size_t) {}
    void open(Nanoseconds start, Nanoseconds) { start_ = start; }
    bool advance() {
        const Nanoseconds now = now_ns();
        follow(now);
        if (!sends_) return flow_.progress();
        if (phase_ > 0) flow_.allow(base_ + allowed_by(now));
        return flow_.advance();
    }
    bool progress() {
        if (start_ != kNoMoment) follow(now_ns());
        return flow_.progress();
    }
    std::int64_t lost() const { return 0; }

    InterferenceRows rows() const {
        InterferenceRows rows;
        for (const Row& row : rows_)
            rows.add(row.begin, row.phase, phases_.kind_of(row.phase), kNoMoment, row.received, row.time);
        return rows;
    }

private:
    struct Row {
        Nanoseconds begin;
        int phase;
        std::int64_t received;
        Nanoseconds time;
    };

    std::int64_t received() const { return flow_.totals()[1]; }

    std::int64_t allowed_by(Nanoseconds now) const {
        if (level_ == 100) return std::numeric_limits<std::int64_t>::max() - base_;
        return static_cast<std::int64_t>(rate_ * static_cast<double>(now - (start_ + phases_.begin(phase_))));
    }

    // What came in a phase counts from when it has settled to its end, by the moments at which this rank looked.
    void follow(Nanoseconds now) {
        if (now < next_look_) [[likely]]
            return;
        const int phase = phases_.at(now - start_);
        if (phase != phase_) {
            leave(now);
            enter(phase);
        } else if (settled_ == kNoMoment && phase < phases_.count()) {
            settled_ = now;
            received_before_ = received();
            sent_before_ = flow_.handed_over();
            next_look_ = start_ + phases_.begin(phase + 1);
        }
    }

    void leave(Nanoseconds now) {
        if (settled_ == kNoMoment) return;
        rows_.push_back({settled_, phase_, received() - received_before_, now - settled_});
        if (phase_ == 0)
            rate_ = level_ / 100.0 * static_cast<double>(flow_.handed_over() - sent_before_) /
                    static_cast<double>(now - settled_);
        settled_ = kNoMoment;
    }

    void enter(int phase) {
        phase_ = phase;
        base_ = flow_.handed_over();
        const bool is_past = phase >= phases_.count();
        sends_ = !is_past && (phase == 0 || (level_ > 0 && phases_.kind_of(phase) == SampleKind::loaded));
        next_look_ = is_past ? std::numeric_limits<Nanoseconds>::max() : start_ + phases_.settled(phase);
    }

    Phases phases_;
    int level_;
    Nanoseconds start_ = kNoMoment;
    int phase_ = -1;
    bool sends_ = false;
    std::int64_t base_ = 0; // messages that were sent before the phase
    double rate_ = 0;       // messages a ns, of its level
    Nanoseconds next_look_ = std::numeric_limits<Nanoseconds>::min();
    Nanoseconds settled_ = kNoMoment;
    std::int64_t received_before_ = 0, sent_before_ = 0; // then
    std::vector<Row> rows_;
};

struct ClassOfLoad {
    std::int64_t granted = kNoMoment; // 1; 0: not; kNoMoment: none was asked for here
    std::string trouble{};            // why it was not, where that is known
};

// Keeps its samples by itself: they are rows of either side.
template <class Engine>
class InterferenceFlow final : public Flow {
public:
    template <class... Parts>
    explicit InterferenceFlow(ClassOfLoad granted, Parts&&... parts)
        : engine_(std::forward<Parts>(parts)...), class_(std::move(granted)) {}

    std::span<const std::string_view> counters() const override { return Engine::kCounters; }
    Nanoseconds run(DurationLoop& loop, const Duration& duration, TickSamples& samples,
                    const Witness& witness) override {
        engine_.reserve(duration.most_samples);
        const Nanoseconds start = loop.run(engine_, duration, samples, [&](Stage stage) {
            if (stage == Stage::drained) note_totals();
            witness(stage);
        });
        rows_ = engine_.rows();
        return start;
    }
    bool is_over() const override { return false; }
    FlowMoments moments() const override { return engine_.moments(); }
    bool injects() const override { return engine_.injects(); }
    std::span<const std::int64_t> totals() const override { return totals_; }
    std::string told() const override { return class_.trouble; }
    std::optional<KeptSamples> kept() const override {
        return KeptSamples{.moments = rows_.begin,
                           .values = {rows_.phase, rows_.kind, rows_.victim_time, rows_.received, rows_.time},
                           .lost = engine_.lost()};
    }

private:
    // Before what is sent to take up receives, which nobody counts.
    void note_totals() {
        const auto counts = engine_.counters();
        totals_ = {static_cast<std::int64_t>(engine_.role()), static_cast<std::int64_t>(counts[0]),
                   static_cast<std::int64_t>(counts[1]), class_.granted};
    }

    Engine engine_;
    InterferenceRows rows_;
    ClassOfLoad class_;
    std::array<std::int64_t, 4> totals_{};
};

EchoSettings echo_settings(const EngineParts& parts, const Offer& offer) {
    const InterferencePlan& plan = interference_of(parts.point);
    EchoSettings settings{.request_size = plan.request_size};
    add_peers(settings, plan.victims, parts.job.rank());
    finish_settings(settings, parts, offer);
    return settings;
}

StreamSettings stream_settings(const EngineParts& parts, const Offer& offer, Bytes size, int window,
                               std::span<const StreamPair> pairs) {
    StreamSettings settings = settings_of_streams(parts, offer, size, pairs);
    settings.window = window;
    settings.injects = uses_inject(offer, parts.point.of_size(size));
    return settings;
}

template <class Mode>
std::unique_ptr<Flow> make_side(const EngineParts& parts, Channel& channel) {
    const InterferencePlan& plan = interference_of(parts.point);
    const Offer& offer = channel.domain().offer();
    const Bytes size = parts.point.message_size;
    const bool is_echo = plan.kind == VictimKind::echo;
    // Numbers of ops are taken alike on all ranks.
    const EchoSettings echo = is_echo ? echo_settings(parts, offer) : EchoSettings{};
    const StreamSettings stream =
        is_echo ? StreamSettings{} : stream_settings(parts, offer, size, plan.under_way(), plan.victims);
    const StreamSettings load = stream_settings(parts, offer, plan.load_size, plan.load_window, plan.load);
    if (plan.is_load(parts.job.rank())) {
        ClassOfLoad of_load;
        if (!plan.load_class.text().empty()) {
            Grant grant = grant_of(channel, plan.load_class);
            of_load = {grant.is_granted ? 1 : 0, std::move(grant.trouble)};
        }
        return std::make_unique<InterferenceFlow<LoadEnd<Mode>>>(std::move(of_load), parts.job, channel, load,
                                                                 plan);
    }
    if (is_echo)
        return std::make_unique<InterferenceFlow<VictimEcho<Mode>>>(ClassOfLoad{}, parts.job, channel, size, echo,
                                                                    plan);
    if (plan.kind == VictimKind::all_to_all)
        return std::make_unique<InterferenceFlow<VictimExchange<Mode>>>(ClassOfLoad{}, parts.job, channel, size,
                                                                        stream, plan);
    return std::make_unique<InterferenceFlow<VictimStream<Mode>>>(ClassOfLoad{}, parts.job, channel, size, stream,
                                                                  plan);
}

} // namespace

std::unique_ptr<Flow> make_interference(const EngineParts& parts) {
    Channel& channel = only_channel(parts.channels, "a load");
    std::unique_ptr<Flow> flow;
    const auto make_in = [&]<class Mode>(Mode) {
        if (parts.point.mode == Mode::kName) flow = make_side<Mode>(parts, channel);
    };
    make_in(Tagged{});
    make_in(Msg{});
    return flow;
}

} // namespace a2aperf
