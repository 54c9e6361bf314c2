// Building fusions instruction by instruction.
#pragma once
#include "ir/attrs.h"
#include "ir/module.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo {

/// A fusion of `inst` alone, in its place; returns it. Its computation has one parameter per distinct
/// operand.
Instruction* WrapInFusion(Instruction* inst, FusionKind kind);
/// Copies `producer`, an operand of `fusion`, into the fused computation, where the copy takes the place of
/// the parameter; what the producer reads becomes an operand of the fusion. The producer stays (perhaps
/// without users). Returns the copy.
Instruction* FuseProducer(Instruction* fusion, Instruction* producer);
/// The same for a producer with other users that will read the fusion: the fusion gets its value as one more
/// output, and all uses of the producer become reads of it; the producer is removed. `fusion` becomes a
/// multi-output fusion if it was none; users of its value read element 0 from then on.
void FuseProducerAsOutput(Instruction* fusion, Instruction* producer);
/// A fusion that takes in many producers, one after the other: FuseProducer and FuseProducerAsOutput in time
/// linear in what the producers read. Until Finish some of its operands are empty tuples that stand for
/// nothing, and so many parameters have no use; the others are as they will be but for their numbers.
class GrowingFusion {
 public:
  explicit GrowingFusion(Instruction* fusion) : fusion_(fusion), used_(fusion->operand_count()) {}
  GrowingFusion(const GrowingFusion&) = delete;
  GrowingFusion& operator=(const GrowingFusion&) = delete;
  ~GrowingFusion() { Finish(); }

  /// True if other fusions had the same body, of which this one now has a copy. Fuse does so, too.
  bool OwnBody();
  Instruction* Fuse(Instruction* producer);
  void FuseAsOutput(Instruction* producer);
  /// The fused parameter that stands for an operand; null: it is none.
  [[nodiscard]] Instruction* ParameterFor(const Instruction* operand);
  /// Of the fused computation, without what Finish removes.
  [[nodiscard]] int64_t instruction_count() const {
    return fusion_->callee()->instruction_count() - vacated_;
  }
  /// What stands for nothing goes; more may be fused afterwards.
  void Finish();

 private:
  void FindPlaces();
  Instruction* NewParameter(Instruction* value);
  Instruction* StandIn(Instruction*& made);

  Instruction* fusion_;
  /// Of each operand, ascending; none until they are asked for.
  llvm::DenseMap<const Instruction*, llvm::SmallVector<int64_t, 1>> places_;
  int64_t used_;         // operands from here on are spare
  int64_t vacated_ = 0;  // of the others: of producers that are fused
  // An empty tuple each: looking for one of many equal operands takes time with their number.
  Instruction* vacant_ = nullptr;
  Instruction* spare_ = nullptr;
};

/// Moves the outputs of `sibling`, a fusion or plain instruction, into `fusion`; they must not depend on each
/// other. `sibling` is removed.
void FuseSibling(Instruction* fusion, Instruction* sibling);

}  // namespace hlo
