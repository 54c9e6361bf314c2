// What hlo-viz shows beside the module: costs, differences, wrong values (tools.md §5.1).
#pragma once
#include <string>
#include <vector>

#include "tools/viz/drawing/dot.h"
#include "tools/viz/options.h"

namespace hlo {

/// One measure of instructions, by which drawings are coloured.
struct Heat {
  HeatMetric metric = HeatMetric::Time;
  llvm::StringRef name, unit;
  std::string (*text)(double value) = nullptr;
  std::vector<std::pair<const Instruction*, double>> values;  // in the order of the module
};

/// Something that is said of one instruction.
struct InstructionMark {
  const Instruction* instruction = nullptr;
  llvm::StringRef kind;  // a word with colours in palette.def
  std::string letter;    // before the name; may be empty
  std::vector<std::string> lines;
};

struct VizOverlay {
  std::vector<Heat> heats;  // that the file has values of
  std::vector<InstructionMark> marks;
  std::string diff;                // the text of --diff
  std::vector<std::string> notes;  // about the module as a whole
};

/// Reads the files of --heat, --diff and --values. Errors: usage-option, input-open, input-format. `report`
/// is told of rows about instructions that the module does not have.
Result<VizOverlay> ReadOverlay(const Module& module, const VizOptions& options,
                               llvm::function_ref<void(Diagnostic)> report);

/// The heat that --heat-metric asks for, or the usual one; null without --heat.
const Heat* ChosenHeat(const VizOverlay& overlay, const VizOptions& options);

/// What stands in the nodes, as --show and --hide say.
struct ShownParts {
  LabelOptions labels;
  bool control = true, schedule = false, bytes = false;
};
/// Error usage-option for words that are none of theirs.
Result<ShownParts> PartsOf(const VizOptions& options);
/// The words of --show that stand for them.
std::vector<std::string> WordsOf(const ShownParts& parts);

/// Bytes of the arrays that an instruction makes.
double ResultBytes(const Instruction& instruction);

/// Colours, lines and legend of a drawing of this module. `overlay` must outlive what is returned.
DotStyle MakeDotStyle(const Drawing& drawing, const ShownParts& parts, const VizOverlay& overlay,
                      const VizOptions& options);

}  // namespace hlo
