// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/config/command_line.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "a2aperf/config/option_table.hpp"
#include "a2aperf/config/values.hpp"
#include "config_file.hpp"
#include "help.hpp"

namespace a2aperf {
namespace {

constexpr std::string_view kProviders = "providers";

// The commands of a2a, the other program: what measures and what judges are easily mixed up.
constexpr std::array<std::string_view, 18> kOfAnalysis{
    "doctor",  "submit", "run",  "suite",   "status",  "table",  "plot",  "report", "live",
    "compare", "screen", "gate", "explain", "history", "import", "merge", "check",  "export"};

// What users of OSU's benchmarks, perftest, fabtests and iperf type, and the option that does it here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 24> kForeign{{
    {"--iterations", "ops"},
    {"--iters", "ops"},
    {"--iter", "ops"},
    {"-n", "ops"},
    {"-I", "ops"},
    {"--warm-up", "warmup"},
    {"--skip", "warmup"},
    {"--msg-size", "sizes"},
    {"--msg-sizes", "sizes"},
    {"--message-sizes", "sizes"},
    {"--size", "sizes"},
    {"--len", "sizes"},
    {"--length", "sizes"},
    {"-s", "sizes"},
    {"-S", "sizes"},
    {"-l", "sizes"},
    {"--mem-limit", "memory-limit"},
    {"-M", "memory-limit"},
    {"--duration", "time-budget"},
    {"-D", "time-budget"},
    {"--time", "time-budget"},
    {"--ib-dev", "nic"},
    {"-d", "nic"},
    {"-p", "provider"},
}};

// The words of one command, sorted out by CLI11; what they mean is the option table's.
class Arguments {
public:
    // Null: providers.
    Arguments(const WorkloadRow* workload, const Catalogue& catalogue)
        : workload_(workload), catalogue_(catalogue) {
        app_.set_help_flag();
        app_.allow_extras();
        help_ = app_.add_flag("-h,--help");
        help_all_ = app_.add_flag("--help-all");
        version_ = app_.add_flag("--version");
        list_ = app_.add_flag("--list");
        if (workload == nullptr) {
            verbose_ = app_.add_flag("-v,--verbose");
            variables_ = app_.add_flag("--variables");
            return;
        }
        config_ = take_all(app_.add_option("--config"));
        for (const OptionRow* row : options_of(*workload)) options_[row] = add(*row);
    }

    // Throws UsageError for a missing value and for what is no option.
    void parse(std::vector<std::string> words) {
        std::reverse(words.begin(), words.end()); // CLI11 takes them from the back
        try {
            app_.parse(words);
        } catch (const CLI::ArgumentMismatch& error) {
            refuse_missing_value(error.what());
        } catch (const CLI::Error& error) {
            throw UsageError(printable(error.what()));
        }
        if (!wants_answer()) refuse_extras();
    }

    std::optional<std::string> answer() const {
        const WorkloadRow& workload = workload_ != nullptr ? *workload_ : *catalogue_.workloads.front();
        if (help_->count() > 0)
            return workload_ != nullptr ? help_text(catalogue_, workload) : providers_help_text();
        if (help_all_->count() > 0) return help_all_text(catalogue_, workload);
        if (version_->count() > 0) return version_text();
        if (list_->count() > 0) return list_text(catalogue_);
        return std::nullopt;
    }

    ProvidersPage providers_page() const {
        if (verbose_->count() > 0 && variables_->count() > 0)
            throw UsageError("--verbose and --variables exclude each other");
        if (variables_->count() > 0) return ProvidersPage::variables;
        return verbose_->count() > 0 ? ProvidersPage::details : ProvidersPage::table;
    }

    std::optional<std::string> config_file() const {
        if (config_->count() == 0) return std::nullopt;
        return single("--config", "FILE", config_->results());
    }

    GivenOptions given() const {
        GivenOptions found;
        for (const auto& [row, option] : options_) {
            if (option->count() == 0) continue;
            found[row] = values_of(*row, option->results());
        }
        return found;
    }

private:
    CLI::Option* add(const OptionRow& row) {
        if (row.arity == Arity::flag) return take_all(app_.add_flag(spellings(row)));
        CLI::Option* const option = take_all(app_.add_option(spellings(row)));
        return row.arity == Arity::perhaps ? option->expected(0, 1) : option;
    }

    static CLI::Option* take_all(CLI::Option* option) {
        return option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }

    bool wants_answer() const {
        return help_->count() + help_all_->count() + version_->count() + list_->count() > 0;
    }

    static std::string single(std::string_view name, std::string_view noun,
                              const std::vector<std::string>& values) {
        if (values.size() > 1) throw UsageError(fmt::format("{} is given twice: give it once", name));
        if (values[0].starts_with("--"))
            throw UsageError(fmt::format("{} needs {}, but {} follows it", name, noun, quote(values[0])));
        return values[0];
    }

    static std::vector<std::string> values_of(const OptionRow& row, const std::vector<std::string>& values) {
        const std::string name = fmt::format("--{}", row.name);
        if (row.arity == Arity::flag) {
            if (values.back() != "true") throw UsageError(fmt::format("{} takes no value", name));
            return {};
        }
        if (row.arity == Arity::perhaps && values == std::vector<std::string>{""}) return {};
        if (row.arity == Arity::one || row.arity == Arity::perhaps) return {single(name, row.value, values)};
        for (const std::string& value : values) single(name, row.value, {value});
        return values;
    }

    // CLI11 says "--sizes: 1 required TEXT missing".
    [[noreturn]] void refuse_missing_value(std::string_view finding) const {
        const std::string_view name = finding.substr(0, finding.find(':'));
        const OptionRow* row = name.starts_with("--") ? find_option(name.substr(2), catalogue_) : nullptr;
        if (row == nullptr) throw UsageError(fmt::format("{} needs a value", name));
        throw UsageError(fmt::format("{0} needs {1}, for example {0} {2}", name, row->value, row->example));
    }

    void refuse_extras() const {
        const std::vector<std::string> extras = app_.remaining();
        if (extras.empty()) return;
        const std::string& word = extras.front();
        if (!word.starts_with('-'))
            throw UsageError(fmt::format("unexpected argument {}: options begin with --", quote(word)));
        const std::string given = word.substr(0, word.find('='));
        const OptionRow* row =
            given.starts_with("--") ? find_option(std::string_view(given).substr(2), catalogue_) : nullptr;
        if (row != nullptr && workload_ != nullptr)
            throw UsageError(
                fmt::format("--{0} is not an option of a2aperf {1}: a2aperf {1} --help-all shows its options",
                            row->name, workload_->name));
        std::vector<std::string> names;
        for (const CLI::Option* option : app_.get_options())
            for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
        const std::vector<std::string_view> known(names.begin(), names.end());
        const auto* const foreign =
            std::find_if(kForeign.begin(), kForeign.end(), [&](const auto& entry) { return entry.first == given; });
        const OptionRow* const ours =
            foreign != kForeign.end() ? find_option(foreign->second, catalogue_) : nullptr;
        const bool has_ours = ours != nullptr && workload_ != nullptr && serves(*ours, *workload_);
        const std::string meant =
            has_ours ? fmt::format("--{}", ours->name) : std::string(nearest_word(given, known));
        throw UsageError(fmt::format("unknown option {}{}: --help-all shows all options", quote(given),
                                     meant.empty() ? "" : fmt::format(" (did you mean {}?)", meant)));
    }

    const WorkloadRow* workload_;
    const Catalogue& catalogue_;
    CLI::App app_;
    CLI::Option* help_;
    CLI::Option* help_all_;
    CLI::Option* version_;
    CLI::Option* list_;
    CLI::Option* config_ = nullptr;
    CLI::Option* verbose_ = nullptr; // these two of providers
    CLI::Option* variables_ = nullptr;
    std::map<const OptionRow*, CLI::Option*> options_;
};

bool exclude_each_other(const OptionRow& a, const OptionRow& b) {
    return !a.exclusive.empty() && a.exclusive == b.exclusive;
}

void refuse_contradictions(const GivenOptions& given, std::string_view prefix) {
    for (const auto& [row, values] : given)
        for (const auto& [other, other_values] : given)
            if (std::less<>{}(row, other) && exclude_each_other(*row, *other))
                throw UsageError(fmt::format("{0}{1} and {0}{2} exclude each other: give one of them", prefix,
                                             row->name, other->name));
}

// What the command line says counts for more than what the file says.
GivenOptions merge(GivenOptions from_words, const GivenOptions& from_file) {
    const GivenOptions typed = from_words;
    for (const auto& [row, values] : from_file) {
        const OptionRow& candidate = *row;
        const bool is_settled = std::any_of(typed.begin(), typed.end(), [&](const auto& entry) {
            return entry.first == &candidate || exclude_each_other(*entry.first, candidate);
        });
        if (!is_settled) from_words[row] = values;
    }
    return from_words;
}

void apply(Options& options, const GivenOptions& given, const Catalogue& catalogue) {
    for (const auto& [row, values] : given) options.given.push_back(row->name);
    for (const auto& [row, values] : given) {
        try {
            row->set(options, values, catalogue);
        } catch (const UsageError& error) {
            throw UsageError(fmt::format("--{}: {}", row->name, error.what()));
        }
    }
}

// What one option says about another; only typed ones must have their partner, a file may hold both kinds.
void check_together(const Options& options, const GivenOptions& typed) {
    const auto is_typed = [&](std::string_view name) {
        return std::any_of(typed.begin(), typed.end(),
                           [&](const auto& entry) { return entry.first->name == name; });
    };
    for (const std::string_view name : {"min-ops", "max-ops"})
        if (is_typed(name) && !options.precision)
            throw UsageError(fmt::format("--{} needs --precision; for a fixed number use --ops", name));
    if (options.min_ops > options.max_ops)
        throw UsageError(
            fmt::format("--min-ops {} is greater than --max-ops {}", options.min_ops, options.max_ops));
    for (const std::string_view name : {"ranks", "ranks-per-node"})
        if (is_typed(name) && !options.is_dry_run)
            throw UsageError(fmt::format("--{} needs --dry-run; a run takes its ranks from mpirun or srun", name));
    if (options.ranks && options.ranks_per_node && *options.ranks_per_node > *options.ranks)
        throw UsageError(
            fmt::format("--ranks-per-node {} is greater than --ranks {}", *options.ranks_per_node, *options.ranks));
    for (const std::string_view name : {"output", "resume", "force", "attach", "node-facts", "label"})
        if (is_typed(name) && options.verify_only)
            throw UsageError(fmt::format("--{}: --verify-only measures nothing and writes no file", name));
    if (options.overwrite == Overwrite::resume && !options.output)
        throw UsageError("--resume needs --output FILE, the file to continue");
}

Options parse_options(const Arguments& words, const WorkloadRow& workload, const Catalogue& catalogue) {
    const GivenOptions typed = words.given();
    refuse_contradictions(typed, "--");
    GivenOptions given = typed;
    Options options = default_options(workload);
    if (const auto file = words.config_file()) {
        const GivenOptions from_file = read_config_file(*file, workload, catalogue);
        const std::string prefix = fmt::format("--config {}: ", quote(*file));
        try {
            refuse_contradictions(from_file, "");
            Options alone = default_options(workload);
            apply(alone, from_file, catalogue);
        } catch (const UsageError& error) {
            throw UsageError(prefix + error.what());
        }
        given = merge(typed, from_file);
    }
    apply(options, given, catalogue);
    workload.check(options);
    check_together(options, typed);
    if (workload.settle != nullptr) workload.settle(options, catalogue);
    return options;
}

// Null for providers, the command that is no workload.
const WorkloadRow* find_command(std::string_view name, const Catalogue& catalogue) {
    std::vector<std::string_view> names;
    for (const WorkloadRow* workload : catalogue.workloads) {
        if (workload->name == name) return workload;
        names.push_back(workload->name);
    }
    if (name == kProviders) return nullptr;
    if (std::ranges::find(kOfAnalysis, name) != kOfAnalysis.end())
        throw UsageError(fmt::format("{0} is a command of a2a, not of a2aperf: a2a {0}", name));
    names.push_back(kProviders);
    throw_unknown("command", name, names);
}

[[noreturn]] void refuse_no_command(const Catalogue& catalogue) {
    std::string commands;
    for (const WorkloadRow* workload : catalogue.workloads)
        commands += fmt::format("{} ({}), ", workload->name, workload->purpose);
    throw UsageError(
        fmt::format("no command: expected one of {}{} (shows what this node offers)", commands, kProviders));
}

} // namespace

ParsedCommandLine parse_command_line(int argc, const char* const* argv, const Catalogue& catalogue) {
    const std::span<const char* const> typed(argv, static_cast<std::size_t>(argc));
    std::vector<std::string> words(typed.begin() + 1, typed.end());
    ParsedCommandLine parsed;
    parsed.options.command_line = join_for_shell(typed);
    if (words.empty()) {
        parsed.answer = help_text(catalogue, *catalogue.workloads.front());
        return parsed;
    }
    const bool has_command = !words[0].starts_with('-');
    const WorkloadRow* workload = catalogue.workloads.front();
    if (has_command) {
        workload = find_command(words[0], catalogue);
        words.erase(words.begin());
    }
    Arguments sorted(workload, catalogue);
    sorted.parse(std::move(words));
    parsed.answer = sorted.answer();
    if (workload == nullptr) parsed.providers = sorted.providers_page();
    if (parsed.answer || parsed.providers) return parsed;
    if (!has_command) refuse_no_command(catalogue);
    std::string command_line = std::move(parsed.options.command_line);
    parsed.options = parse_options(sorted, *workload, catalogue);
    parsed.options.command_line = std::move(command_line);
    return parsed;
}

} // namespace a2aperf
