// For tables of passes: what a row of a `passes.def` is.
#pragma once
#include "passes/pass.h"

/// `#define HLO_PASS HLO_DECLARE_PASS` in front of a `passes.def`: the hooks of its passes.
#define HLO_DECLARE_PASS(name, Stem, ...) extern const PassHooks k##Stem##Pass;

/// The same with HLO_PASS_INFO: its rows as PassInfo.
#define HLO_PASS_INFO(name, Stem, requires_, preserves_, summary, ...) \
  {name,                                                               \
   summary,                                                            \
   static_cast<ModuleFacts>(requires_),                                \
   static_cast<ModuleFacts>(preserves_),                               \
   &k##Stem##Pass,                                                     \
   Licence(__VA_ARGS__)},
