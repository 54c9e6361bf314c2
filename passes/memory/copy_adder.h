// The first step of copy-insertion: copies wherever one might be needed.
#pragma once
#include <set>

#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/dataflow.h"
#include "passes/rewrite/maker.h"

namespace hlo {

/// Adds copies to a module for whose present state `flow` holds.
class CopyAdder {
 public:
  CopyAdder(Module& module, const Dataflow& flow) : module_(module), flow_(flow) {}
  void Run();
  /// The copies made.
  [[nodiscard]] const llvm::DenseSet<const Instruction*>& copies() const { return copies_; }
  /// Uses that read one of several equal get-tuple-elements now read the first.
  [[nodiscard]] bool merged_elements() const { return merged_elements_; }
  /// Tuples that were rebuilt around copies go back to what they stand for if no copy is left in them.
  void RestoreTuples();
  /// Deletes what was made or replaced and is not needed. `removed` are copies that are gone already.
  void RemoveDead(llvm::DenseSet<const Instruction*> removed);

 private:
  using Leaves = std::set<int64_t>;  // wanted copies, as numbers of parts of a value (Dataflow::Parts)
  using Elements = llvm::DenseMap<int64_t, Instruction*>;  // get-tuple-elements of one tuple, by index
  using CopyOf = llvm::DenseMap<int64_t, llvm::SmallVector<Instruction*, 1>>;  // by number
  /// A part of a value: its place, where one of that shape is, and its number.
  struct Part {
    Place place = kNoPlace;
    int64_t number = 0;
  };
  struct Rebuilt {
    Instruction* tuple;
    Instruction* original;
  };

  [[nodiscard]] Part Whole(const Instruction& inst) const { return {flow_.Of(inst), 0}; }
  [[nodiscard]] std::vector<Part> Children(Part tuple) const;
  [[nodiscard]] bool Wanted(Part part, const Leaves& leaves) const;
  [[nodiscard]] Leaves OwnLeaves(const Instruction& inst) const;
  Instruction* Copy(Instruction* value, Maker& maker);
  /// `present`: what takes elements from the tuple already.
  Instruction* Element(Instruction* tuple, int64_t index, const Elements& present, Maker& maker);
  Instruction* DeepCopy(Instruction* value, Part part, const Leaves& leaves, Maker& maker, CopyOf* made);
  /// What reads a tuple: elements once each, and others the whole.
  struct TupleUsers {
    Instruction* tuple = nullptr;
    std::vector<Part> parts;
    llvm::DenseMap<int64_t, Instruction*> elements;
    std::vector<Instruction*> others;
    size_t next = 0;  // element to go into
  };
  TupleUsers UsersOf(Instruction* tuple, Part part);
  void CopyArrayForUsers(Instruction* value, Part part, CopyOf& made);
  void CopyForUsers(Instruction* value, Part part, const Leaves& leaves, CopyOf& made);
  void CopyForOthers(const TupleUsers& users, const Leaves& leaves, CopyOf& made);
  void CopyRoot(Computation& computation, Part whole, const Leaves& leaves, const CopyOf* after);

  void LeaveTransfers(const Instruction& value, Part part, Leaves& leaves) const;
  void AddForWhile(Instruction* loop);
  void AddForConditional(Instruction* conditional);
  void AddInPlace(Instruction* inst);
  void AddBeforeStart(const Instruction& wrapped, const llvm::SmallDenseMap<int64_t, Leaves, 2>& by_operand);
  void AddForEntry();
  CopyOf CopyOverwritten(Leaves& results);
  [[nodiscard]] Leaves SharedResults() const;

  Module& module_;
  const Dataflow& flow_;
  llvm::DenseSet<const Instruction*> copies_;
  std::vector<Rebuilt> rebuilt_;  // inner before outer
  std::vector<Instruction*> made_;
  std::vector<Instruction*> replaced_;
  bool merged_elements_ = false;
};

}  // namespace hlo
