// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/record/recorder.hpp"

#include <algorithm>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/error.hpp"
#include "crc32.hpp"
#include "recorder_impl.hpp"
#include "skeleton.hpp"
#include "trailer.hpp"

namespace a2aperf {
namespace {

std::string text_of(const Provenance& provenance, const char* name) {
    const auto found = provenance.text.find(name);
    return found != provenance.text.end() ? found->second : std::string();
}

// A result that doesn't fit the file is a mistake of the caller's.
void require_fit(int point, const PointResult& result, const Extents& extents) {
    const auto require = [](bool is_so, std::string_view what) {
        if (!is_so) throw std::invalid_argument(fmt::format("Recorder::write: {}", what));
    };
    const Samples& samples = result.samples;
    require(point >= 0 && point < extents.points, "no such point");
    require(samples.ranks == extents.ranks, "samples of another number of ranks");
    require(samples.attempts() <= extents.attempts, "more attempts than the file has room for");
    require(samples.ticks >= 0 && samples.ticks <= std::max(extents.ticks, 0),
            "more ticks than the file has room for");
    require(samples.buckets >= 0 && samples.buckets <= std::max(extents.buckets, 0),
            "more buckets than the file has room for");
    for (const SampleColumn& column : extents.samples)
        require(column.of(samples).size() ==
                    h5::elements(
                        shape_of(column.per, {1, samples.start.size(), static_cast<std::uint64_t>(samples.ticks),
                                              extents.r(), static_cast<std::uint64_t>(samples.buckets)})),
                fmt::format("{} of another length", column.name));
    for (const auto* ranks : {&result.ranks, &result.verification.ranks, &result.before.ranks, &result.after.ranks})
        require(ranks->empty() || ranks->size() == extents.r(), "counters of another number of ranks");
    for (const auto* nodes : {&result.nodes, &result.verification.nodes, &result.before.nodes, &result.after.nodes})
        require(nodes->empty() || nodes->size() == extents.n(), "counters of another number of nodes");
}

void copy_group(const DeclaredGroup& from, const DeclaredGroup& to) {
    from.copy_to(to);
    if (from.checksum() != to.checksum())
        throw RunError(fmt::format("/{} reads otherwise than it was written", from.declaration().name),
                       EndReason::bad_data);
}

Extents extents_of(const RecorderSettings& settings, const Plan& plan, const Layout& layout,
                   const std::vector<std::string>& port_names) {
    Extents extents{settings.schema,
                    static_cast<int>(plan.points.size()),
                    settings.max_attempts,
                    layout.ranks(),
                    layout.nodes(),
                    settings.max_ticks,
                    port_names};
    for (const SampleColumn& column : settings.schema.samples)
        if (column.kept != Kept::when_traced || settings.is_traced) extents.samples.push_back(column);
    extents.group = settings.group;
    extents.buckets = settings.max_buckets;
    return extents;
}

} // namespace

std::uint64_t largest_file(const RecorderSettings& settings, const Plan& plan, const Layout& layout) {
    return ResultsFile::largest_size(extents_of(settings, plan, layout, {}));
}

RootAttributes root_attributes(const RecorderSettings& settings, const Layout& layout,
                               const Provenance& provenance) {
    RootAttributes attributes;
    attributes.title = fmt::format("{}, {} ranks on {} node{}, {}", settings.schema.subject, layout.ranks(),
                                   layout.nodes(), layout.nodes() == 1 ? "" : "s", settings.provider);
    attributes.source =
        fmt::format("a2aperf {} ({})", text_of(provenance, "program_version"), text_of(provenance, "commit"));
    attributes.created = format_utc(wall_clock_ns());
    attributes.percentile_rule = to_string(settings.percentile);
    attributes.complete_at = to_string(settings.complete_at);
    return attributes;
}

void require_room(const std::filesystem::path& file, const Extents& extents) {
    require_space(
        file, ResultsFile::largest_size(extents),
        fmt::format("{} points of up to {} ops on {} ranks", extents.points, extents.attempts, extents.ranks));
}

void Recorder::Impl::start(Replacement& replacement, Existing existing, const Provenance& provenance,
                           const std::vector<int>& planned_order) {
    segment = results.segment_count();
    SegmentGroup::create(results.segments, segment, provenance, planned_order);
    port_names = provenance.port_names;
    publish(replacement, existing);
}

void Recorder::Impl::publish(Replacement& replacement, Existing existing) {
    results.write_checksums();
    results.write_digest();
    results.file.flush();
    const Schema schema = results.extents.schema;
    const auto declared = results.extents.group;
    const auto measurements = places_of_measurements(results.file);
    results.close(); // HDF5 holds no metadata back that it could write later
    if (measurements) append_skeleton(replacement.path(), *measurements);
    try {
        results = ResultsFile::open(replacement.path(), h5::File::Access::read_write, schema);
        results.open_group(declared);
    } catch (const UsageError& error) {
        throw RunError(error.what()); // it is ours, so not what the user gave us
    }
    states = results.columns.states();
    checksums.emplace(results.file, results.extents.points);
    lock = replacement.publish(existing);
}

void Recorder::Impl::require_name() const {
    if (!lock->is_of(file) && std::filesystem::exists(file)) throw nameless();
}

RunError Recorder::Impl::nameless() const {
    return RunError(lock->name().empty() ? "the results of this launch are lost"
                                         : "the results of this launch can't get their name");
}

// Of what is on the disk.
void Recorder::Impl::extend(const std::vector<Point>& more, const Layout& layout, const std::string& provider) {
    settle();
    require_name();
    std::vector<Point> all = points;
    all.insert(all.end(), more.begin(), more.end());
    Extents extents = results.extents;
    extents.points = static_cast<int>(all.size());
    require_room(file, extents);
    Replacement replacement(file);
    ResultsFile longer =
        ResultsFile::create(replacement.path(), FileLayout::preallocated, results.attributes, extents);
    longer.columns.write_asked(all, layout, provider);
    copy_measured(results, states, longer);
    if (const auto damaged = copy_checksums(results, longer))
        throw RunError(
            fmt::format("{} is damaged: point {} reads otherwise than it was written", file.string(), *damaged),
            EndReason::bad_data);
    if (results.group) copy_group(*results.group, longer.group.value());
    ResultsFile former = std::exchange(results, std::move(longer));
    try {
        publish(replacement, Existing::replace);
    } catch (const std::exception&) {
        results = std::move(former); // which has the name: its end can still be told
        states.resize(points.size());
        throw;
    }
    points = std::move(all);
}

PercentileRule Recorder::Impl::percentile_rule() const {
    return results.attributes.percentile_rule == to_string(PercentileRule::index) ? PercentileRule::index
                                                                                  : PercentileRule::rank;
}

void Recorder::Impl::take_back(int point) {
    State& state = states[static_cast<std::size_t>(point)];
    if (!has_samples(state)) return;
    std::erase(waiting, point);
    state = State::pending;
    // One after the other: without its checksum no point on the disk says that it is complete.
    results.columns.write_state(point, State::pending);
    settle();
    results.columns.write_checksum(point, kNoChecksum);
    results.file.sync_data();
}

void Recorder::Impl::settle() {
    if (!is_disk_trusted) return;
    const Nanoseconds begin = now_ns();
    is_disk_trusted = false;
    try {
        results.file.sync_data();
    } catch (const std::exception&) {
        for (const int point : waiting) states[static_cast<std::size_t>(point)] = State::pending;
        throw;
    }
    is_disk_trusted = true;
    pace.made(begin, now_ns());
    for (const int point : waiting) results.columns.write_state(point, states[static_cast<std::size_t>(point)]);
    waiting.clear();
}

// Where the disk takes nothing any more, why the launch ended may still be said, but not that it is finished.
void Recorder::Impl::close(EndState state, EndReason reason, std::string_view message) {
    const SegmentGroup launch = SegmentGroup::open(results.segments, segment);
    launch.explain(state, reason, message, wall_clock_ns());
    try {
        settle();
    } catch (const std::system_error&) {
        if (state != EndState::finished) launch.end(state);
        throw;
    }
    launch.end(state);
    results.file.sync();
}

void Recorder::Impl::compact() {
    Extents extents = results.extents;
    const Made most = most_made(results, states);
    extents.attempts = static_cast<int>(most.attempts);
    extents.ticks = static_cast<int>(most.ticks);
    extents.buckets = static_cast<int>(most.buckets);
    Replacement replacement(file);
    std::optional<std::vector<h5::Extent>> measurements;
    {
        ResultsFile copy =
            ResultsFile::create(replacement.path(), FileLayout::compact, results.attributes, extents);
        copy_asked(results, copy);
        copy_measured(results, states, copy);
        if (const auto damaged = copy_checksums(results, copy)) {
            take_back(*damaged);
            throw RunError(
                fmt::format("{} is damaged: point {} reads otherwise than it was written", file.string(), *damaged),
                EndReason::bad_data);
        }
        if (results.group) copy_group(*results.group, copy.group.value());
        copy.write_digest();
        copy.file.flush();
        measurements = places_of_measurements(copy.file);
        copy.close();
    }
    if (measurements) append_skeleton(replacement.path(), *measurements);
    append_trailer(replacement.path());
    lock = replacement.publish(Existing::replace);
}

Recorder::Recorder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Recorder::Recorder(Recorder&&) noexcept = default;
Recorder& Recorder::operator=(Recorder&&) noexcept = default;
Recorder::~Recorder() = default;

Recorder Recorder::create(const RecorderSettings& settings, const Plan& plan, const Layout& layout,
                          const Provenance& provenance) {
    auto impl = std::make_unique<Impl>();
    impl->file = resolve(settings.file);
    impl->points = plan.points;
    const Extents extents = extents_of(settings, plan, layout, provenance.port_names);
    const Existing existing = settings.may_replace ? Existing::replace : Existing::keep;
    require_writable_folder(impl->file);
    require_room(impl->file, extents);
    // Held until the new file has the name. What came while none was there is another launch's, too.
    std::optional<FileLock> former;
    if (settings.may_replace) former = lock_where_there(impl->file);
    Replacement replacement(impl->file);
    if (settings.may_replace && !former) former = lock_where_there(impl->file);
    impl->results = ResultsFile::create(replacement.path(), FileLayout::preallocated,
                                        root_attributes(settings, layout, provenance), extents);
    impl->results.columns.write_asked(plan.points, layout, settings.provider);
    impl->start(replacement, existing, provenance, plan.order);
    return Recorder(std::move(impl));
}

bool Recorder::is_complete(int point) const {
    return impl_->states.at(static_cast<std::size_t>(point)) == State::complete;
}

PointResult Recorder::stored(int point) const {
    PointResult result = impl_->results.columns.read(point);
    const PercentileRule rule = impl_->percentile_rule();
    const std::size_t n = result.summary.count;
    result.summary.p99_is_max = n > 0 && percentile_index(n, 0.99, rule) == n - 1;
    result.samples.ranks = impl_->results.extents.ranks;
    result.ranks = impl_->results.counters.read_ranks(point);
    result.nodes = impl_->results.counters.read_nodes(point);
    result.verification = impl_->results.counters.read_verification(point);
    result.before = impl_->results.counters.read_before(point);
    result.after = impl_->results.counters.read_after(point);
    return result;
}

void Recorder::write(int point, const PointResult& result) {
    const ResultsFile& results = impl_->results;
    require_fit(point, result, results.extents);
    impl_->take_back(point); // measured again: it had failed, or its partner was not complete
    results.raw.write(point, result.samples);
    results.counters.write(point, result.ranks, result.nodes, impl_->port_names);
    results.counters.write_verification(point, result.verification, impl_->port_names);
    results.counters.write_values(point, result.before, result.after, impl_->port_names);
    if (results.group) results.group->write_point(impl_->points[static_cast<std::size_t>(point)], result);
    results.columns.write(point, result, {impl_->segment, impl_->next_order});
    results.columns.write_checksum(point, impl_->checksums->of(point));
    impl_->states[static_cast<std::size_t>(point)] = state_of(result);
    impl_->waiting.push_back(point);
    ++impl_->next_order;
    if (impl_->pace.is_due(now_ns())) impl_->settle();
}

void Recorder::take_back(int point) {
    impl_->take_back(point);
}

void Recorder::extend(const std::vector<Point>& more, const Layout& layout, const std::string& provider) {
    impl_->extend(more, layout, provider);
}

void Recorder::write_all(const std::function<void(const PutCells& put)>& cells) {
    impl_->results.group.value().write_all(cells);
}

std::vector<double> Recorder::read(const std::string& column, const std::vector<std::uint64_t>& places) const {
    return impl_->results.group.value().read(column, places);
}

std::vector<std::string> Recorder::read_texts(const std::string& column) const {
    return impl_->results.group.value().read_texts(column);
}

void Recorder::clear(const std::string& column) {
    impl_->results.group.value().clear(column);
}

std::optional<std::string> Recorder::end(EndState state, std::string_view message, EndReason reason) {
    impl_->close(state, state == EndState::finished ? EndReason::finished : reason, message);
    if (state != EndState::finished) return std::nullopt;
    // What was only removed comes back with the compact copy; what has come in its place isn't ours.
    const bool is_ours = has_name();
    impl_->require_name();
    try {
        impl_->compact();
        return std::nullopt;
    } catch (const std::exception& error) {
        if (reason_of(error) == EndReason::bad_data) throw;
        if (!is_ours) throw impl_->nameless();
        return fmt::format("{} is complete but larger than necessary: {}", impl_->file.string(), words_of(error));
    }
}

const std::vector<std::string>& Recorder::remarks() const {
    return impl_->remarks;
}

bool Recorder::has_name() const {
    return impl_->lock->is_of(impl_->file);
}

std::filesystem::path Recorder::moved_to() const {
    return impl_->lock->name();
}

} // namespace a2aperf
