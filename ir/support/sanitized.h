// Whether a sanitizer watches what runs.
#pragma once

namespace hlo {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HLO_SANITIZED true
#endif
#endif
#ifndef HLO_SANITIZED
#define HLO_SANITIZED false
#endif

/// Everything takes five to ten times as long then: tests that take many inputs through the same code take
/// some of them.
inline constexpr bool kSanitized = HLO_SANITIZED;
#undef HLO_SANITIZED

}  // namespace hlo
