// Schedules: text.
#include "backends/kernel/schedule_steps.h"
#include "backends/kernel/threads.h"
#include "llvm/ADT/StringExtras.h"

namespace hlo::kernel {
namespace {

using Kind = ScheduleStep::Kind;

struct Word {
  Kind kind;
  llvm::StringRef text;
  size_t loops;  // named before `by`; 0: any number
  bool has_by;
  int made = 0;  // loops named behind `into`
};
constexpr Word kWords[] = {
    {Kind::Split, "split", 1, true, 2},     {Kind::Reorder, "reorder", 0, false},
    {Kind::Vector, "vector", 1, true},      {Kind::Unroll, "unroll", 1, true},
    {Kind::Parallel, "parallel", 1, false}, {Kind::Bind, "bind", 1, false},
    {Kind::Fuse, "fuse", 0, false, 1},      {Kind::Once, "once", 0, false, 1},
    {Kind::Team, "team", 1, true},          {Kind::Join, "join", 0, false, 1},
    {Kind::Tile, "tile", 2, true, 1},       {Kind::Atomic, "atomic", 1, false},
    {Kind::Product, "product", 0, true, 1}, {Kind::Distribute, "distribute", 0, false}};

/// The words of a step, commas left out.
class Line {
 public:
  Line(llvm::StringRef text, int number) : number_(number) { llvm::SplitString(text, words_, " ,\t\r"); }
  bool Done() const { return next_ == words_.size(); }
  bool At(llvm::StringRef word) const { return !Done() && words_[next_] == word; }
  bool Take(llvm::StringRef word) {
    if (!At(word)) return false;
    ++next_;
    return true;
  }
  tl::unexpected<Diagnostic> Expected(llvm::StringRef what) const {
    return ScheduleError("step {0}: found '{1}', expected {2}", number_, Done() ? "" : words_[next_], what);
  }
  Result<LoopId> Loop() {
    llvm::StringRef text = Done() ? "" : words_[next_];
    LoopId id = 0;
    if (!text.consume_front("i") || text.getAsInteger(10, id) || id < 0) return Expected("a loop like i0");
    ++next_;
    return id;
  }
  Result<Binding> ToBinding() {
    const auto binding = ParseBinding(Done() ? "" : words_[next_]);
    if (!binding) return Expected("block.x, block.y, block.z, thread.x, thread.y, thread.z or lane");
    ++next_;
    return *binding;
  }
  /// Two words.
  Result<MatrixUnit> Unit() {
    const auto type = ParseElementType(Done() ? "" : words_[next_]);
    if (!type) return Expected("an element type");
    ++next_;
    MatrixUnit unit{*type};
    llvm::StringRef text = Done() ? "" : words_[next_];
    if (text.consumeInteger(10, unit.rows) || !text.consume_front("x") ||
        text.consumeInteger(10, unit.columns) || !text.consume_front("x") ||
        text.getAsInteger(10, unit.depth))
      return Expected("rows, columns and depth like 16x8x16");
    ++next_;
    return unit;
  }
  Result<int64_t> Number() {
    int64_t number = 0;
    if (Done() || words_[next_].getAsInteger(10, number) || number < 1) return Expected("a number above 0");
    ++next_;
    return number;
  }

 private:
  llvm::SmallVector<llvm::StringRef, 8> words_;
  size_t next_ = 0;
  int number_;
};

Status ParseProduct(Line& line, ScheduleStep& step) {
  ProductShape& shape = step.product;
  shape.rows = step.by;
  HLO_TRY(shape.columns, line.Number());
  HLO_TRY(shape.depth, line.Number());
  if (!line.Take("warps")) return line.Expected("'warps'");
  HLO_TRY(shape.warp_rows, line.Number());
  HLO_TRY(shape.warp_columns, line.Number());
  if (!line.Take("unit")) return line.Expected("'unit'");
  HLO_TRY(shape.unit, line.Unit());
  if (!line.Take("stages")) return line.Expected("'stages'");
  HLO_TRY(shape.stages, line.Number());
  return {};
}

Result<ScheduleStep> ParseStep(Line& line) {
  const auto* word = llvm::find_if(kWords, [&](const Word& w) { return line.Take(w.text); });
  if (word == std::end(kWords)) {
    std::string known;
    for (const Word& w : kWords)
      known += (known.empty() ? "" : &w + 1 == std::end(kWords) ? " or " : ", ") + w.text.str();
    return line.Expected(known);
  }
  ScheduleStep step{word->kind, {}};
  if (step.kind != Kind::Once) do {
      HLO_TRY(const LoopId loop, line.Loop());
      step.loops.push_back(loop);
    } while (step.loops.size() < word->loops ||
             (word->loops == 0 && !line.Done() && !line.At("into") && !line.At("by")));
  if (word->has_by) {
    if (!line.Take("by")) return line.Expected("'by'");
    HLO_TRY(step.by, line.Number());
  }
  if ((step.kind == Kind::Team || step.kind == Kind::Tile) && line.Take("vector")) {
    HLO_TRY(step.unroll, line.Number());
  }
  if (step.kind == Kind::Product) HLO_CHECK_OK(ParseProduct(line, step));
  step.keep = step.kind == Kind::Team && line.Take("keep");
  step.across = step.kind == Kind::Team && line.Take("across");
  if (word->made > 0 && !line.Take("into")) return line.Expected("'into'");
  for (int i = 0; i < word->made; ++i) {
    HLO_TRY(const LoopId loop, line.Loop());
    step.loops.push_back(loop);
  }
  if (step.kind == Kind::Vector && line.Take("unroll")) {
    HLO_TRY(step.unroll, line.Number());
  }
  if (step.kind == Kind::Bind) {
    if (!line.Take("to")) return line.Expected("'to'");
    HLO_TRY(step.binding, line.ToBinding());
  }
  if (!line.Done()) return line.Expected("the end of the step");
  return step;
}

}  // namespace

size_t LoopsMade(ScheduleStep::Kind kind) {
  return static_cast<size_t>(kWords[static_cast<size_t>(kind)].made);
}

Result<Schedule> ParseSchedule(llvm::StringRef text) {
  Schedule schedule;
  llvm::SmallVector<llvm::StringRef, 8> lines, steps;
  llvm::SplitString(text, lines, "\n");
  for (const llvm::StringRef line : lines) llvm::SplitString(line.split("//").first, steps, ";");
  for (const llvm::StringRef step : steps) {
    Line words(step, static_cast<int>(schedule.size()) + 1);
    if (words.Done()) continue;
    HLO_TRY(ScheduleStep parsed, ParseStep(words));
    schedule.push_back(std::move(parsed));
  }
  return schedule;
}

namespace {

void Print(llvm::raw_ostream& os, const ScheduleStep& step) {
  const Word& word = kWords[static_cast<size_t>(step.kind)];
  os << word.text;
  const size_t named = step.loops.size() - static_cast<size_t>(word.made);
  for (size_t i = 0; i < named; ++i) os << (i == 0 ? " i" : ", i") << step.loops[i];
  if (word.has_by) os << " by " << step.by;
  if ((step.kind == Kind::Team || step.kind == Kind::Tile) && step.unroll > 1)
    os << " vector " << step.unroll;
  if (step.keep) os << " keep";
  if (step.across) os << " across";
  if (const ProductShape& shape = step.product; step.kind == Kind::Product)
    os << ", " << shape.columns << ", " << shape.depth << " warps " << shape.warp_rows << ", "
       << shape.warp_columns << " unit " << ToString(shape.unit) << " stages " << shape.stages;
  for (int i = 0; i < word.made; ++i)
    os << (i == 0 ? " into i" : ", i") << step.loops[step.loops.size() - static_cast<size_t>(word.made - i)];
  if (step.kind == Kind::Vector && step.unroll > 1) os << " unroll " << step.unroll;
  if (step.kind == Kind::Bind) os << " to " << ToString(step.binding);
}

}  // namespace

std::string ToString(const Schedule& schedule) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const ScheduleStep& step : schedule) {
    if (!text.empty()) os << "; ";
    Print(os, step);
  }
  return text;
}

}  // namespace hlo::kernel
