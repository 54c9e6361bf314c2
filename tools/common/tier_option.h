// --tier.
#pragma once
#include "backends/cpu/compile.h"
#include "tools/common/options.h"

namespace hlo {

template <>
inline constexpr OptionWord<Tier> kOptionWords<Tier>[] = {
    {"auto", Tier::Auto},
    {"interpret", Tier::Interpret},
    {"compile", Tier::Compile},
};

}  // namespace hlo
