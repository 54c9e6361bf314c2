// Plans of whole modules, checked by running them: a machine that executes a module on its planned memory,
// noting for every byte which write it holds, and finds every read of something else. It knows nothing of
// liveness. Loops run twice, every branch of a conditional once.
#include <cstdlib>
#include <map>

#include "gtest/gtest.h"
#include "ir/support/sanitized.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "parser/parser.h"
#include "passes/analysis/buffer_assignment.h"
#include "passes/analysis/schedule.h"
#include "passes/pass.h"

namespace hlo {
namespace {

/// Which write each byte holds.
class Memory {
 public:
  void Write(int64_t begin, int64_t end, int64_t tag) {
    if (begin >= end) return;
    Split(begin);
    Split(end);
    parts_.erase(parts_.lower_bound(begin), parts_.lower_bound(end));
    parts_[begin] = {end, tag};
  }
  [[nodiscard]] bool Holds(int64_t begin, int64_t end, int64_t tag) const {
    while (begin < end) {
      auto it = parts_.upper_bound(begin);
      if (it == parts_.begin()) return false;
      --it;
      if (it->second.end <= begin || it->second.tag != tag) return false;
      begin = it->second.end;
    }
    return true;
  }

 private:
  struct Part {
    int64_t end, tag;
  };
  void Split(int64_t at) {
    auto it = parts_.lower_bound(at);
    if (it == parts_.begin()) return;
    --it;
    if (it->second.end <= at || it->first == at) return;
    parts_[at] = it->second;
    it->second.end = at;
  }
  std::map<int64_t, Part> parts_;
};

class Machine {
 public:
  Machine(const BufferAssignment& plan, const Schedule& schedule) : plan_(plan), schedule_(schedule) {
    memory_.resize(plan.allocations().size());
  }
  /// What went wrong; empty if nothing.
  std::string Run() {
    const Computation& entry = *plan_.module().entry();
    std::vector<Tags> parameters;
    for (const Instruction* p : entry.parameters()) {
      parameters.push_back(Fresh(*p));
      Store(*p, parameters.back(), {});
    }
    for (const auto& computation : plan_.module().computations())
      for (const Instruction* i : computation->instructions())
        if (i->kind() == OpKind::Constant && plan_.flow().Of(*i) != kNoPlace) {
          constants_[i] = Fresh(*i);
          Store(*i, constants_[i], {});
        }
    const Tags result = Execute(entry, parameters);
    CheckHeld(*entry.root(), result, "the result");
    for (const auto& [constant, tags] : constants_) CheckHeld(*constant, tags, "a constant");
    for (size_t i = 0; i < parameters.size(); ++i)
      CheckParameter(*entry.parameter(static_cast<int64_t>(i)), parameters[i]);
    CheckResults(*entry.root());
    return error_;
  }

 private:
  /// One tag per leaf, in depth-first order.
  using Tags = std::vector<int64_t>;

  Tags Fresh(const Instruction& inst) {
    Tags tags;
    for (int64_t i = 0; i < inst.shape().LeafCount(); ++i) tags.push_back(next_++);
    return tags;
  }
  std::vector<BufferSlice> Slices(const Instruction& inst) const {
    std::vector<BufferSlice> slices;
    ForEachLeaf(inst.shape(), [&](const ShapeIndex& index, const Shape& leaf) {
      BufferSlice slice = plan_.Of(inst, index);
      if (BufferBytes(leaf) == 0) slice = {};
      slices.push_back(slice);
    });
    return slices;
  }
  void Fail(const Instruction& inst, const std::string& what) {
    if (error_.empty()) error_ = "%" + inst.name().str() + ": " + what;
  }
  void CheckHeld(const Instruction& inst, const Tags& tags, const std::string& what) {
    const std::vector<BufferSlice> slices = Slices(inst);
    for (size_t i = 0; i < slices.size(); ++i) {
      const BufferSlice& s = slices[i];
      if (s.allocation < 0) continue;
      if (!memory_[static_cast<size_t>(s.allocation)].Holds(s.offset, s.offset + s.size, tags[i]))
        Fail(inst, "part " + std::to_string(i) + " of " + what + " was overwritten");
    }
  }
  /// Writes; only operations that read element by element may write over what they read.
  void Store(const Instruction& inst, const Tags& tags, llvm::ArrayRef<Tags> operands) {
    const std::vector<BufferSlice> slices = Slices(inst);
    for (size_t i = 0; i < slices.size(); ++i) {
      const BufferSlice& s = slices[i];
      if (s.allocation < 0) {
        if (tags[i] >= 0 && LeafBytes(inst, i) > 0) Fail(inst, "has no buffer");
        continue;
      }
      // What a result only names is there already.
      if (memory_[static_cast<size_t>(s.allocation)].Holds(s.offset, s.offset + s.size, tags[i])) continue;
      for (int64_t o = 0; o < static_cast<int64_t>(operands.size()); ++o) CheckOverlap(inst, i, s, o);
      for (size_t j = 0; j < i; ++j)
        if (Overlap(s, slices[j])) Fail(inst, "parts of the result overlap");
      if (s.offset < 0 || s.offset + s.size > plan_.allocations()[static_cast<size_t>(s.allocation)].size)
        Fail(inst, "lies outside its allocation");
      memory_[static_cast<size_t>(s.allocation)].Write(s.offset, s.offset + s.size, tags[i]);
    }
  }
  static int64_t LeafBytes(const Instruction& inst, size_t leaf) {
    int64_t bytes = 0;
    size_t at = 0;
    ForEachLeaf(inst.shape(), [&](const ShapeIndex&, const Shape& s) {
      if (at++ == leaf) bytes = BufferBytes(s);
    });
    return bytes;
  }
  static bool Overlap(const BufferSlice& a, const BufferSlice& b) {
    return a.allocation >= 0 && a.allocation == b.allocation && a.offset < b.offset + b.size &&
           b.offset < a.offset + a.size;
  }
  void CheckOverlap(const Instruction& inst, size_t leaf, const BufferSlice& written, int64_t operand) {
    size_t at = 0;
    ForEachLeaf(inst.operand(operand)->shape(), [&](const ShapeIndex& index, const Shape& shape) {
      const BufferSlice read =
          BufferBytes(shape) == 0 ? BufferSlice() : plan_.Of(*inst.operand(operand), index);
      ++at;
      if (!Overlap(read, written)) return;
      if (!(read == written)) return Fail(inst, "partly overlaps operand " + std::to_string(operand));
      const bool elementwise = inst.info().Is(kElementwise) && shape == inst.shape();
      bool in_place = elementwise || inst.kind() == OpKind::Copy;
      ShapeIndex output;
      size_t number = 0;
      ForEachLeaf(inst.shape(), [&](const ShapeIndex& i, const Shape&) {
        if (number++ == leaf) output = i;
      });
      for (const OutputOperandAlias& pair : InPlacePairs(inst))
        in_place |= pair.operand == operand && pair.operand_index == index && pair.output == output;
      SharingRules rules;
      in_place |= inst.kind() == OpKind::Fusion && rules.MayShare(inst, operand, index, output);
      if (!in_place) Fail(inst, "overwrites operand " + std::to_string(operand));
    });
  }

  Tags Execute(const Computation& computation, const std::vector<Tags>& parameters) {
    std::map<const Instruction*, Tags> values;
    const auto it = schedule_.find(&computation);
    const std::vector<Instruction*> order = it != schedule_.end() ? it->second : computation.PostOrder();
    for (const Instruction* inst : order) {
      Tags& result = values[inst];
      if (inst->kind() == OpKind::Parameter) {
        result = parameters[static_cast<size_t>(inst->attr<ParameterAttrs>().number)];
        continue;
      }
      if (inst->kind() == OpKind::Constant) {
        result = constants_[inst];
        continue;
      }
      std::vector<Tags> operands;
      for (const Instruction* o : inst->operands()) operands.push_back(values[o]);
      if (Forward(*inst, operands, result)) continue;
      for (int64_t i = 0; i < inst->operand_count(); ++i)
        CheckHeld(*inst->operand(i), operands[static_cast<size_t>(i)],
                  "operand " + std::to_string(i) + " of %" + inst->name().str());
      if (inst->kind() == OpKind::While) {
        result = Loop(*inst, operands[0]);
      } else if (inst->kind() == OpKind::Call) {
        result = Execute(*inst->callee(), operands);
      } else if (inst->kind() == OpKind::Conditional) {
        for (size_t b = 0; b < inst->callees().size(); ++b) {
          const std::vector<Memory> before = memory_;
          result = Execute(*inst->callee(static_cast<int64_t>(b)), {operands[b + 1]});
          CheckHeld(*inst, result, "the branch's result");
          if (b + 1 < inst->callees().size()) memory_ = before;
        }
      } else {
        if (inst->kind() == OpKind::AsyncStart) running_[inst] = Execute(*inst->callee(), operands);
        result = Fresh(*inst);
        PassOn(*inst, operands, result);
        Store(*inst, result, operands);
      }
      CheckHeld(*inst, result, "its result");
    }
    CheckHeld(*computation.root(), values[computation.root()], "the root");
    return values[computation.root()];
  }
  Tags Loop(const Instruction& loop, Tags state) {
    for (int round = 0; round < 2; ++round) {
      CheckHeld(*loop.callee(1)->parameter(0), state, "the loop's state");
      Execute(*loop.callee(1), {state});
      CheckHeld(*loop.callee(0)->parameter(0), state, "the loop's state after the condition");
      state = Execute(*loop.callee(0), {state});
    }
    CheckHeld(*loop.callee(1)->parameter(0), state, "the loop's state");
    Execute(*loop.callee(1), {state});
    return state;
  }
  /// The parts of asynchronous operations that name what others hold: those in the same place of memory, if
  /// the operation is one that may. Operands of a start must last until its done, which reads them there.
  void PassOn(const Instruction& inst, const std::vector<Tags>& operands, Tags& result) {
    if (!inst.info().Is(kStart) && !inst.info().Is(kDone) && inst.kind() != OpKind::AsyncUpdate) return;
    if (inst.kind() == OpKind::AsyncDone) {
      const Instruction* start = inst.operand(0);
      while (start->kind() == OpKind::AsyncUpdate) start = start->operand(0);
      result = running_[start];
      return;
    }
    Tags known;
    std::vector<Place> places;
    for (size_t o = 0; o < operands.size(); ++o)
      AddLeaves(*inst.operand(static_cast<int64_t>(o)), operands[o], known, places);
    if (inst.kind() == OpKind::AsyncStart) AddLeaves(*inst.callee()->root(), running_[&inst], known, places);
    const std::vector<Place> own = LeafPlaces(inst);
    for (size_t i = 0; i < own.size(); ++i)
      for (size_t k = 0; k < places.size(); ++k)
        if (plan_.flow().Value(own[i]) == plan_.flow().Value(places[k])) result[i] = known[k];
  }
  std::vector<Place> LeafPlaces(const Instruction& inst) const {
    std::vector<Place> places;
    ForEachLeaf(inst.shape(), [&](const ShapeIndex& index, const Shape&) {
      places.push_back(plan_.flow().Of(inst, index));
    });
    return places;
  }
  void AddLeaves(const Instruction& inst, const Tags& tags, Tags& known, std::vector<Place>& places) const {
    known.insert(known.end(), tags.begin(), tags.end());
    const std::vector<Place> leaves = LeafPlaces(inst);
    places.insert(places.end(), leaves.begin(), leaves.end());
  }

  /// Operations that only name what others hold.
  static bool Forward(const Instruction& inst, const std::vector<Tags>& operands, Tags& result) {
    switch (inst.kind()) {
      case OpKind::Tuple:
        for (const Tags& t : operands) result.insert(result.end(), t.begin(), t.end());
        return true;
      case OpKind::GetTupleElement: {
        int64_t begin = 0;
        const Shape& tuple = inst.operand(0)->shape();
        const int64_t index = inst.attr<GetTupleElementAttrs>().index;
        for (int64_t i = 0; i < index; ++i) begin += tuple.tuple_shape(i).LeafCount();
        result.assign(operands[0].begin() + begin,
                      operands[0].begin() + begin + tuple.tuple_shape(index).LeafCount());
        return true;
      }
      case OpKind::Bitcast:
      case OpKind::OptimizationBarrier:
      case OpKind::Domain:
      case OpKind::AddDependency: result = operands[0]; return true;
      default: return false;
    }
  }
  void CheckParameter(const Instruction& parameter, const Tags& tags) {
    const std::vector<BufferSlice> slices = Slices(parameter);
    size_t i = 0;
    ForEachLeaf(parameter.shape(), [&](const ShapeIndex& index, const Shape&) {
      const size_t leaf = i++;
      for (const InputOutputAlias& alias : plan_.module().config.input_output_alias)
        if (alias.parameter == parameter.attr<ParameterAttrs>().number && alias.parameter_index == index)
          return;
      const BufferSlice& s = slices[leaf];
      if (s.allocation >= 0 &&
          !memory_[static_cast<size_t>(s.allocation)].Holds(s.offset, s.offset + s.size, tags[leaf]))
        Fail(parameter, "was overwritten");
    });
  }
  /// Results are buffers of their own.
  void CheckResults(const Instruction& root) {
    const std::vector<BufferSlice> slices = Slices(root);
    for (size_t i = 0; i < slices.size(); ++i) {
      if (slices[i].allocation < 0) continue;
      if (plan_.allocations()[static_cast<size_t>(slices[i].allocation)].kind == AllocationKind::Constant)
        Fail(root, "a result is a constant");
      for (size_t j = 0; j < i; ++j)
        if (Overlap(slices[i], slices[j])) Fail(root, "results overlap");
    }
  }

  const BufferAssignment& plan_;
  const Schedule& schedule_;
  std::vector<Memory> memory_;
  std::map<const Instruction*, Tags> constants_;
  std::map<const Instruction*, Tags> running_;  // results of asynchronous computations
  int64_t next_ = 0;
  std::string error_;
};

std::unique_ptr<Module> Parse(llvm::StringRef text, llvm::StringRef name) {
  return ParseModule(text, name).module;
}

/// Plans the module in every order that the schedulers make, and once for all of them.
Result<bool> RunCopyInsertion(Module& module, PassContext& context) {
  const PassHooks& pass = *FindPass("copy-insertion")->hooks;
  return pass.run(module, pass.make_options().get(), context);
}

void CheckModule(llvm::StringRef text, const std::string& name) {
  RewriteControls controls;
  auto module = Parse(text, name);
  if (!module) return;
  if (module->config.is_scheduled) {
    module->config.is_scheduled = false;
    for (const auto& c : module->computations()) c->set_schedule({});
  }
  PassContext context("copy-insertion", controls);
  ASSERT_TRUE(RunCopyInsertion(*module, context)) << name;
  BufferOptions any_order;
  any_order.order = Ordering::Kind::Dependency;
  const auto unordered = BufferAssignment::Compute(*module, any_order);
  ASSERT_TRUE(unordered) << name << ": " << unordered.error().message;
  for (const ScheduleAlgorithm algorithm : {ScheduleAlgorithm::PostOrder, ScheduleAlgorithm::List,
                                            ScheduleAlgorithm::Dfs, ScheduleAlgorithm::Bfs}) {
    Schedule schedule = MakeSchedule(*module, algorithm);
    EXPECT_EQ(Machine(*unordered, schedule).Run(), "")
        << name << ", dependency order, " << ToString(algorithm).str();
    for (auto& [computation, order] : schedule) const_cast<Computation*>(computation)->set_schedule(order);
    module->config.is_scheduled = true;
    const auto plan = BufferAssignment::Compute(*module);
    ASSERT_TRUE(plan) << name << ": " << plan.error().message;
    EXPECT_EQ(Machine(*plan, schedule).Run(), "")
        << name << ", sequential order, " << ToString(algorithm).str();
    EXPECT_GE(plan->Total(AllocationKind::Temp), plan->peak().bytes) << name;
  }
  // Again with the last schedule, which lets more copies go.
  PassContext again("copy-insertion", controls);
  ASSERT_TRUE(RunCopyInsertion(*module, again)) << name;
  const auto plan = BufferAssignment::Compute(*module);
  ASSERT_TRUE(plan) << name << ": " << plan.error().message;
  EXPECT_EQ(Machine(*plan, ScheduleOf(*module)).Run(), "") << name << ", scheduled copies";
}

/// Under sanitizers every seventh module.
void CheckFolder(const std::string& folder) {
  constexpr size_t kEvery = kSanitized ? 7 : 1;
  std::error_code error;
  std::vector<std::string> files;
  for (llvm::sys::fs::recursive_directory_iterator it(folder, error), end; it != end && !error;
       it.increment(error))
    if (llvm::StringRef(it->path()).ends_with(".hlo")) files.push_back(it->path());
  llvm::sort(files);
  for (size_t i = 0; i < files.size(); i += kEvery) {
    auto buffer = llvm::MemoryBuffer::getFile(files[i]);
    ASSERT_TRUE(buffer) << files[i];
    CheckModule((*buffer)->getBuffer(), files[i]);
  }
  EXPECT_FALSE(files.empty()) << folder;
}

TEST(CopyInsertion, PlansOfTheConformanceSuiteKeepEveryValue) {
  CheckFolder(std::string(HLO_SOURCE_DIR) + "/testdata/conformance/cases");
}

/// The machine sees that memory planned for one order does not serve another.
TEST(CopyInsertion, PlansServeTheirOwnOrderOnly) {
  auto module = Parse(R"(HloModule m
ENTRY e {
  p = f32[64] parameter(0)
  a = f32[64] negate(p)
  b = f32[64] reverse(a), dimensions={0}
  c = f32[64] reverse(b), dimensions={0}
  d = f32[64] exponential(p)
  e = f32[64] reverse(d), dimensions={0}
  ROOT r = f32[64] add(c, e)
})",
                      "m");
  ASSERT_TRUE(module);
  Schedule narrow = MakeSchedule(*module, ScheduleAlgorithm::PostOrder);
  Schedule wide = MakeSchedule(*module, ScheduleAlgorithm::Bfs);
  const auto plan = BufferAssignment::Compute(*module);
  ASSERT_TRUE(plan);
  EXPECT_EQ(Machine(*plan, narrow).Run(), "");
  EXPECT_NE(Machine(*plan, wide).Run(), "");
}

/// HLO_PLAN_FOLDER names a folder of further modules.
TEST(CopyInsertion, PlansOfOtherModulesKeepEveryValue) {
  if (const char* folder = std::getenv("HLO_PLAN_FOLDER")) CheckFolder(folder);
}

}  // namespace
}  // namespace hlo
