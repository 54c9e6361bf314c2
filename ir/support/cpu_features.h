// What the processor of this machine can do.
#pragma once
#include <initializer_list>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace hlo {

/// Extensions of x86-64 that code generators use unasked, and tiles, by LLVM's names; none elsewhere.
llvm::ArrayRef<llvm::StringRef> KnownCpuFeatures();

/// This machine and its system have all of `features`, which are known ones. The C library looked when the
/// process began: asking the processor again would take microseconds for each of some dozen questions, as
/// virtual machines are interrupted by them.
bool HasCpuFeatures(std::initializer_list<llvm::StringRef> features);

/// Every processor of this kind multiplies and adds in one rounding.
#if defined(__ARM_FEATURE_FMA)
inline constexpr bool kAlwaysFused = true;
#else
inline constexpr bool kAlwaysFused = false;
#endif

}  // namespace hlo
