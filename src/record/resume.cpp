// SPDX-License-Identifier: BSD-3-Clause
// Recorder::resume: whether a file may be continued, and the copy that has room for it.
#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/units.hpp"
#include "crash.hpp"
#include "crc32.hpp"
#include "recorder_impl.hpp"
#include "resume_plan.hpp"
#include "resume_settings.hpp"
#include "trailer.hpp"

namespace a2aperf {
namespace {

// A name out of a file: as it is, unless it would not be one word of a line.
std::string as_word(const std::string& name) {
    const bool is_plain =
        !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
    return is_plain ? name : quote(name);
}

void require_same_rules(const std::filesystem::path& file, const RootAttributes& stored, bool is_traced,
                        const RecorderSettings& settings) {
    if (stored.percentile_rule != to_string(settings.percentile))
        refuse_to_resume(file,
                         fmt::format("its percentiles follow the rule {} and this launch's '{}' (--percentile)",
                                     quote(stored.percentile_rule), to_string(settings.percentile)));
    if (stored.complete_at != to_string(settings.complete_at))
        refuse_to_resume(file,
                         fmt::format("its ops are complete at the {} and this launch's at the {} (--complete-at)",
                                     as_word(stored.complete_at), to_string(settings.complete_at)));
    if (is_traced != settings.is_traced)
        refuse_to_resume(file, is_traced
                                   ? "it keeps when each message arrived (--trace) and this launch does not"
                                   : "it does not keep when each message arrived and this launch does (--trace)");
}

// Times from a common clock and from each rank's own exit from a barrier are not the same figure.
void require_same_start(const std::filesystem::path& file, const std::string& there, const Provenance& provenance) {
    const auto here = provenance.text.find("sync");
    if (here == provenance.text.end() || there == here->second) return;
    refuse_to_resume(file, fmt::format("its ops start by --sync {} and this launch's by --sync {}", as_word(there),
                                       here->second));
}

void require_same_environment(const std::filesystem::path& file, const std::map<std::string, std::string>& stored,
                              const std::vector<EnvironmentVariable>& environment) {
    std::map<std::string, std::string> here;
    for (const EnvironmentVariable& variable : environment)
        if (variable.is_required) here.emplace(variable.name, variable.value);
    const auto shown_in = [](const std::map<std::string, std::string>& variables, const std::string& name) {
        const auto found = variables.find(name);
        return found != variables.end() ? quote(found->second) : std::string("not set");
    };
    std::map<std::string, std::string> either = stored;
    either.insert(here.begin(), here.end());
    for (const auto& [name, value] : either) {
        if (shown_in(stored, name) == shown_in(here, name)) continue;
        refuse_to_resume(file, fmt::format("{} was {} and is {} in this launch", as_word(name),
                                           shown_in(stored, name), shown_in(here, name)));
    }
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text.append(text.empty() ? "" : ",").append(as_word(name));
    return text;
}

// Allowed, for a cluster rarely gives the same nodes twice, and told.
std::vector<std::string> compare_nodes(std::vector<std::string> there, std::vector<std::string> here) {
    std::sort(there.begin(), there.end());
    std::sort(here.begin(), here.end());
    std::vector<std::string> added;
    std::vector<std::string> gone;
    std::set_difference(here.begin(), here.end(), there.begin(), there.end(), std::back_inserter(added));
    std::set_difference(there.begin(), there.end(), here.begin(), here.end(), std::back_inserter(gone));
    if (added.empty() && gone.empty()) return {};
    return {fmt::format("resumed on other nodes than the launch before: {} instead of {}", joined(added),
                        joined(gone))};
}

// A point that is complete stays so, whatever this launch could have done.
std::vector<Point> points_to_ask(const Plan& plan, const std::vector<State>& states) {
    std::vector<Point> points = plan.points;
    for (std::size_t p = 0; p < points.size(); ++p)
        if (states[p] == State::complete) points[p].skip_reason.clear();
    return points;
}

// "3, 17, …"
std::string listed(const std::vector<int>& points) {
    constexpr std::size_t kMostNamed = 20;
    const std::size_t named = std::min(points.size(), kMostNamed);
    return fmt::format("{}{}", fmt::join(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(named), ", "),
                       named < points.size() ? ", …" : "");
}

// "2 of 24 points are not what was written and are measured again: 3, 17"; nothing where all are. replaced:
// columns.
std::vector<std::string> tell_damaged(const ResultsFile::Reliable& kept, const std::vector<std::string>& replaced) {
    std::vector<std::string> remarks;
    const auto tell = [&](const std::vector<int>& points, std::string_view one, std::string_view more) {
        if (!points.empty())
            remarks.push_back(fmt::format("{} of {} {}: {}", points.size(), counted(kept.states.size(), "point"),
                                          points.size() == 1 ? one : more, listed(points)));
    };
    tell(kept.damaged, "is not what was written (checksum) and will be measured again",
         "are not what was written (checksum) and will be measured again");
    tell(kept.misnamed, "has not the state that was written and is kept as its row says",
         "have not the states that were written and are kept as their rows say");
    if (!replaced.empty())
        remarks.push_back(
            fmt::format("{} of points that are not measured is not what was written (checksum): it is as "
                        "this launch asks",
                        fmt::join(replaced, ", ")));
    return remarks;
}

// Every point that is kept has the cells that follow from its samples; others are measured by every launch anew.
void restore_group(const ResultsFile& from, const std::vector<State>& kept, const std::vector<Point>& points,
                   const DeclaredGroup& to) {
    const auto& of_point = to.declaration().of_point;
    if (!of_point) return;
    const std::vector<Made> made = from.made();
    to.write_all([&](const PutCells& put) {
        for (std::size_t p = 0; p < kept.size(); ++p) {
            if (!has_samples(kept[p])) continue;
            const int point = static_cast<int>(p);
            PointResult result = from.columns.read(point);
            result.samples = from.raw.read(point, made[p]);
            for (const GroupCells& cells : of_point(points[p], result)) put(cells);
        }
    });
}

// A launch that was killed has not sealed it.
void keep_group(const ResultsFile& from, const std::vector<State>& kept, const std::vector<Point>& points,
                const ResultsFile& to, std::vector<std::string>& remarks) {
    if (!from.group) return;
    if (from.group->is_sound()) return from.group->copy_to(*to.group);
    if (from.group->checksum() != kNoChecksum)
        remarks.push_back(fmt::format("/{} is not what was written (checksum) and is made anew of the samples",
                                      from.group->declaration().name));
    else
        from.group->copy_texts_to(*to.group); // it was killed: what no sample tells is as it stands there
    restore_group(from, kept, points, *to.group);
}

// The file's ports, then those that only this launch has.
Extents extents_for(const ResultsFile& stored, const std::vector<State>& kept, const RecorderSettings& settings,
                    const Provenance& provenance) {
    Extents extents = stored.extents;
    const Made most = most_made(stored, kept);
    extents.attempts = std::max(settings.max_attempts, static_cast<int>(most.attempts));
    extents.ticks = std::max(settings.max_ticks, static_cast<int>(most.ticks));
    extents.buckets = std::max(settings.max_buckets, static_cast<int>(most.buckets));
    // A file that is older has no histogram: the points that it keeps go on without, the others have theirs.
    for (const SampleColumn& column : settings.schema.samples)
        if (column.per == Per::bucket && !extents.has_samples(column.name)) extents.samples.push_back(column);
    for (const std::string& name : provenance.port_names)
        if (std::find(extents.port_names.begin(), extents.port_names.end(), name) == extents.port_names.end())
            extents.port_names.push_back(name);
    return extents;
}

} // namespace

Recorder Recorder::resume(const RecorderSettings& settings, const Plan& plan, const Layout& layout,
                          const Provenance& provenance) {
    try {
        return Recorder(Impl::resume(settings, plan, layout, provenance));
    } catch (const h5::Unreadable& error) {
        throw_damaged(settings.file, error);
    }
}

std::unique_ptr<Recorder::Impl> Recorder::Impl::resume(const RecorderSettings& settings, const Plan& plan,
                                                       const Layout& layout, const Provenance& provenance) {
    auto impl = std::make_unique<Impl>();
    impl->file = resolve(settings.file);
    const std::filesystem::path& file = impl->file;
    require_writable_folder(file);
    const FileLock lock = lock_or_refuse(file); // until the copy has the name
    const Trailer trailer = look_at_trailer(file);
    ResultsFile stored = ResultsFile::open(file, h5::File::Access::read_only, settings.schema);
    const SegmentGroup before = SegmentGroup::open(stored.segments, stored.segment_count() - 1);
    require_same_extents(file, stored, plan, layout, settings.provider);
    const ResultsFile::Reliable kept = stored.reliable();
    const std::vector<std::string> replaced =
        require_same_rows(file, stored, kept, plan, layout, settings.provider);
    if (settings.group && settings.group->needs_exits && !stored.extents.has_samples("exit"))
        throw UsageError(
            fmt::format("{} can't be resumed: it is of an older a2aperf, which did not keep when ranks "
                        "left the barrier. Name a new file with -o",
                        file.string()));
    stored.open_group(settings.group);
    require_same_rules(file, stored.attributes, stored.extents.has_samples("arrival"), settings);
    require_same_start(file, before.start_of_ops(), provenance);
    if (const auto differs = setting_that_differs(before, provenance)) refuse_to_resume(file, *differs);
    require_same_environment(file, before.required_environment(), provenance.environment);
    impl->remarks = compare_nodes(before.nodes(), provenance.nodes);
    for (std::string& remark : tell_settings(before, provenance, settings.is_memory_limit_asked))
        impl->remarks.push_back(std::move(remark));

    impl->points = plan.points;
    if (trailer == Trailer::wrong || (trailer == Trailer::none && stored.must_have_trailer()))
        impl->remarks.push_back(fmt::format(
            "{} is not as it was finished (trailer): what its checksums vouch for is kept", file.string()));
    for (std::string& remark : tell_damaged(kept, replaced)) impl->remarks.push_back(std::move(remark));
    Extents extents = extents_for(stored, kept.states, settings, provenance);
    if (settings.group) extents.group = with_room_for(*extents.group, *settings.group);
    require_room(file, extents);
    Replacement replacement(file);
    impl->results = ResultsFile::create(replacement.path(), FileLayout::preallocated, stored.attributes, extents);
    impl->results.columns.write_asked(points_to_ask(plan, kept.states), layout, settings.provider);
    copy_measured(stored, kept.states, impl->results);
    keep_group(stored, kept.states, plan.points, impl->results, impl->remarks);
    SegmentGroup::add_reasons(impl->results.segments);
    impl->start(replacement, Existing::replace, provenance, plan.order);
    return impl;
}

Nanoseconds longest_check(const std::filesystem::path& file) {
    std::error_code ignored;
    constexpr Nanoseconds kSecond = 1'000'000'000;
    return std::filesystem::is_regular_file(file, ignored) ? longest_read_s(file) * kSecond : 0;
}

StoredChoices check_output(const std::filesystem::path& file, bool may_resume, bool may_replace,
                           const Schema& schema) {
    const std::filesystem::path path = resolve(file);
    require_writable_folder(path);
    require_own_name(file);
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    if (!std::filesystem::exists(status)) return {};
    if (!std::filesystem::is_regular_file(status))
        throw UsageError(fmt::format("the output {} is not a file: choose another with -o", path.string()));
    if (!may_resume && !may_replace) throw UsageError(exists_already(path));
    lock_or_refuse(path);
    if (!may_resume) return {};
    const auto open = [&] { return ResultsFile::open(path, h5::File::Access::read_only, schema); };
    if (look_at_trailer(path) != Trailer::right)
        require_no_crash(
            path, [&] { open().reliable(); }, longest_read_s(path));
    const ResultsFile stored = open();
    try {
        const SegmentGroup last = SegmentGroup::open(stored.segments, stored.segment_count() - 1);
        return {SegmentGroup::open(stored.segments, 0).planned_order(), last.start_of_ops()};
    } catch (const h5::Unreadable& error) {
        throw_damaged(file, error);
    }
}

} // namespace a2aperf
