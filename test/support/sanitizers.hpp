// SPDX-License-Identifier: BSD-3-Clause
// Whether this is compiled for AddressSanitizer, under which a simulation of thousands of launches takes minutes.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define A2APERF_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define A2APERF_SANITIZED 1
#endif
#endif

namespace a2aperf::test {

#ifdef A2APERF_SANITIZED
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

} // namespace a2aperf::test
