// literal-canonicalizer: equal constants share their data (passes.md §2.1).
//
// Requires nothing. Preserves everything.
// Changes: nothing that can be seen; constants of equal shape and value, in any computation, use one piece of
// memory. Left alone: constants of less than `min_size_bytes`.
#include "llvm/ADT/DenseMap.h"
#include "passes/pass.h"

namespace hlo {
namespace {

struct LiteralCanonicalizerOptions {
  int64_t min_size_bytes = 0;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&LiteralCanonicalizerOptions::min_size_bytes>("min_size_bytes",
                                                             "leave smaller constants alone"),
};

int64_t DataBytes(const Literal& literal) {
  int64_t bytes = static_cast<int64_t>(literal.shape().IsArray() ? literal.byte_size() : 0);
  for (const Literal& element : literal.elements()) bytes += DataBytes(element);
  return bytes;
}

llvm::ArrayRef<PassOptionRow> LiteralCanonicalizerOptions::Rows() { return kRows; }

Result<bool> RunLiteralCanonicalizer(Module& module, const LiteralCanonicalizerOptions& options,
                                     PassContext& context) {
  bool changed = false;
  llvm::DenseMap<uint64_t, llvm::SmallVector<LiteralPtr, 1>> pool;
  for (Computation* c : context.AllComputations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    for (Instruction* inst : c->instructions()) {
      if (inst->kind() != OpKind::Constant) continue;
      const LiteralPtr& literal = inst->attr<ConstantAttrs>().literal;
      if (!literal || DataBytes(*literal) < options.min_size_bytes) continue;
      auto& bucket = pool[static_cast<uint64_t>(hash_value(*literal))];
      const auto* same = llvm::find_if(bucket, [&](const LiteralPtr& other) {
        return other == literal || (other->shape() == literal->shape() && *other == *literal);
      });
      if (same == bucket.end()) {
        bucket.push_back(literal);
      } else if (*same != literal && context.TakeRewrite()) {
        inst->mutable_attrs().Mutable<ConstantAttrs>().literal = *same;
        changed = true;
      }
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(LiteralCanonicalizer, LiteralCanonicalizerOptions);

}  // namespace hlo
