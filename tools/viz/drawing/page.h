// A module, or what became of one, as one interactive HTML file without outside references (tools.md §5.3).
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/module.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo {

/// One measure by which instructions can be coloured. Those without a value are drawn grey.
struct PageHeat {
  std::string name;                                           // shown in the choice: `time`, `bytes`, `flops`
  std::string unit;                                           // `ns`, `B`; may be empty
  std::vector<std::pair<const Instruction*, double>> values;  // of the module, not negative
};

/// Something said of one instruction, which is drawn with a warning sign: a mismatch, a divergence.
struct PageNote {
  const Instruction* instruction = nullptr;
  std::string text;
};

/// How both modules of a comparison are drawn as one.
struct PageMerge {
  /// The regions that are closed, in no order: their instructions, of the right module where there is one.
  std::vector<std::vector<const Instruction*>> regions;
  /// Computations in which all else is drawn one by one; those that are not named are grouped by op_name.
  std::vector<const Computation*> computations;
  /// Instructions that stand for a change of several places, with the number of places.
  std::vector<std::pair<const Instruction*, int64_t>> repeats;
};

/// What a page shows and how it opens; readers can switch everything in the page.
struct PageInput {
  const Module* module = nullptr;  // the right one of a comparison
  const Module* left = nullptr;    // set: two linked panes
  /// A `hlo.diff/1` object (tools.md §4.3) or empty. Its names are those of `left` and `module`; without
  /// `left` its right sides mark the instructions of `module`.
  std::string diff;
  std::optional<PageMerge> merge;  // with `left` and `diff`: opens with both modules as one drawing
  std::vector<PageHeat> heat;
  std::vector<PageNote> notes;
  std::string title;  // empty: the module's name

  const Computation* computation = nullptr;  // opens here; null: the entry
  const Instruction* selected = nullptr;     // opens with this one selected and centred
  std::vector<const Instruction*> only;      // not empty: opens with these alone; of one computation
  std::string group_by;                      // a word of --group-by; empty: `op-name`, `diff` with a diff
  std::string color_by;                      // a word of --color-by; empty: `opcode`, `diff` with a diff
  std::string heat_by;                       // the name of a heat to open with; empty: none
  std::vector<std::string> show = {"shape", "layout", "control", "constants"};  // words of --show
  bool fusion_bodies = true;  // false: only what runs as steps of the program
};

/// The page carries the modules as text (large constants elided) and draws from that. Its size is that of
/// the text plus a constant, its bytes depend on the input alone. `#computation::name` opens at an
/// instruction, `#computation` at a computation; both parts URI-encoded.
void WritePage(llvm::raw_ostream& os, const PageInput& input);

}  // namespace hlo
