// SPDX-License-Identifier: BSD-3-Clause
// Ops each of which has traffic of its own: an engine for every one of them, made before it.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "a2aperf/measure/engine.hpp"

namespace a2aperf {

class RedrawnEngine final : public Engine {
public:
    // Of the op of a number.
    using Make = std::function<std::unique_ptr<Engine>(int op)>;

    explicit RedrawnEngine(Make make) : make_(std::move(make)) {}

    void prepare(std::uint64_t op) override {
        engine_.reset(); // of MPI's there may be one at a time
        engine_ = make_(next_++);
        engine_->prepare(op);
    }
    bool progress() override { return engine_->progress(); }
    Moments run() override { return engine_->run(); }
    void restart() override { next_ = 0; }
    bool has_arrived(Rank source) const override { return engine_->has_arrived(source); }
    std::span<const Nanoseconds> arrival_times() const override { return engine_->arrival_times(); }
    int pinned_threads() const override { return engine_ ? engine_->pinned_threads() : 0; }

private:
    Make make_;
    std::unique_ptr<Engine> engine_; // null before the first op
    int next_ = 0;
};

} // namespace a2aperf
