// SPDX-License-Identifier: BSD-3-Clause
// What can go wrong, by who can mend it.
#pragma once

#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "a2aperf/base/end_reason.hpp"

namespace a2aperf {

// The user asked for something that is not to be had: one line for people, exit status 2, nothing written.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// A deadline passed or a peer failed while measuring: exit status 1 after the whole job is ended.
class RunError : public std::runtime_error {
public:
    explicit RunError(const std::string& what, EndReason reason = EndReason::other)
        : std::runtime_error(what), reason_(reason) {}
    EndReason reason() const { return reason_; }

private:
    EndReason reason_;
};

// Of all that was asked for nothing can be measured: one line, this exit status, nothing written.
class NothingToMeasure : public std::runtime_error {
public:
    static constexpr int kExitStatus = 3;
    using std::runtime_error::runtime_error;
};

// The launch was told to stop; completed points are in the file.
class Interrupted : public std::runtime_error {
public:
    explicit Interrupted(int signal_number);
    int signal_number() const { return signal_number_; }

private:
    int signal_number_;
};

// Fit for one line: every byte that is not printable ASCII as \xNN.
std::string printable(std::string_view text);

// What went wrong, for people: of some of C++'s own errors what() is only their name.
std::string words_of(const std::exception& error);

// What the user typed, fit for one line of an error message: in single quotes, every byte that is not printable
// ASCII as \xNN, cut after 60 bytes.
std::string quote(std::string_view text);

// The known word that was probably meant by a mistyped one; empty when none is near.
std::string_view nearest_word(std::string_view given, std::span<const std::string_view> known);

// "unknown schedule 'shfit': expected one of shift, xor, naive (did you mean shift?)"
[[noreturn]] void throw_unknown(std::string_view noun, std::string_view given,
                                std::span<const std::string_view> known);

} // namespace a2aperf
