// How a Dataflow is made: places of each instruction, what holds what, uses. Of dataflow.cc and
// dataflow_rules.cc.
#pragma once
#include <utility>
#include <vector>

#include "passes/analysis/dataflow.h"

namespace hlo {

/// Fills a Dataflow. `value_` and `buffer_` are disjoint-set forests until Finish().
/// Values are joined first; which buffers merge is only recorded until all values are known.
class DataflowBuilder {
 public:
  explicit DataflowBuilder(Dataflow& flow) : flow_(flow) {}
  void Build();

 private:
  using Rule = void (DataflowBuilder::*)(const Instruction&, Place);
  struct Row {
    OpKind kind;
    Rule rule;
  };
  static const Row kRows[];
  /// What is done for such operations; null: their results are new.
  static Rule RuleOf(OpKind kind);

  void AddPlaces(const Instruction& inst);
  Place AddPlace(const Instruction& inst, const Shape& shape);
  Place AddTree(const Instruction& inst);
  Place AddTable(const Instruction& inst);
  [[nodiscard]] Place Named(const Instruction& inst) const;
  [[nodiscard]] bool IsLeaf(Place p) const { return !flow_.shape(p).IsTuple(); }
  [[nodiscard]] bool SameTree(Place a, Place b) const;

  Place Find(std::vector<Place>& forest, Place p) const;
  Place Value(Place p) { return Find(flow_.value_, p); }
  /// The parts of `to` hold what the parts of `from` hold.
  void Forward(Place from, Place to);
  void Merge(Place a, Place b) { merges_.push_back({a, b}); }  // one buffer
  void ApplyMerges();
  void MergeLeaves(Place a, Place b);
  [[nodiscard]] const Instruction* Root(const Instruction& caller, int64_t callee) const {
    return caller.callee(callee)->root();
  }
  [[nodiscard]] bool Only(const Instruction& caller, int64_t callee) const {
    const CallSite* site = flow_.calls_.OnlySite(*caller.callee(callee));
    return site && site->caller == &caller;
  }
  void EnterCallee(const Instruction& caller, int64_t callee, int64_t parameter, Place argument);

  void HoldOperand(const Instruction& inst, Place place);
  void HoldFirst(const Instruction& inst, Place place);
  void CopyStart(const Instruction& inst, Place place);
  void StartWithOperand(const Instruction& inst, Place place);
  void DoneWithFirst(const Instruction& inst, Place place);
  void DoneWithSecond(const Instruction& inst, Place place);
  void CallRule(const Instruction& inst, Place place);
  void WhileRule(const Instruction& inst, Place place);
  void ConditionalRule(const Instruction& inst, Place place);
  void AsyncStartRule(const Instruction& inst, Place place);
  void AsyncUpdateRule(const Instruction& inst, Place place);
  void AsyncDoneRule(const Instruction& inst, Place place);
  void LoopElement(const Instruction& loop, Place result, Place init, Place body, Place root,
                   Place condition);

  void CollectUses();
  void AddUses(const Instruction& inst, std::vector<std::pair<Place, Use>>& uses);
  void AddAsyncUses(std::vector<std::pair<Place, Use>>& uses);
  void AliasEntry();
  void Finish();
  /// What Part numbers are made of.
  void CountParts();

  Dataflow& flow_;
  std::vector<std::pair<Place, Place>> merges_;  // applied when all values are known
};

}  // namespace hlo
