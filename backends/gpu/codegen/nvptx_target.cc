#include "backends/gpu/codegen/nvptx_target.h"

#include "backends/gpu/codegen/remainder.h"
#include "backends/llvm/thread_target.h"
#include "backends/llvm/types.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

namespace hlo::gpu {
namespace {

using codegen::CodeTarget;
using codegen::ThreadTarget;
using kernel::ShuffleMode;
using llvm::Value;
using llvm::Intrinsic::ID;

constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;
constexpr unsigned kWarp = 32;
/// Arrays of the run time begin at multiples of 256 bytes, but parameters may be any arrays of the caller's.
constexpr int64_t kAlignment = 16;

/// Loops are for threads; what a thread does by itself is written out where it is short.
codegen::CodeTarget::Code CodeLimits() {
  CodeTarget::Code code;
  code.tiny_loop = 16;
  code.tiny_stmts = 128;
  return code;
}

class Threads final : public ThreadTarget {
 public:
  Threads()
      : ThreadTarget({.global_space = kGlobalSpace,
                      .shared_space = kSharedSpace,
                      .most_lanes = kWarp,
                      .most_blocks = {INT32_MAX, 65535, 65535},
                      .most_threads = {1024, 1024, 64},
                      .alignment = kAlignment,
                      .access = 16}) {}

  Value* Block(Builder& b, unsigned direction, int64_t count) const override {
    constexpr ID kBlocks[] = {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                              llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                              llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z};
    return Register(b, kBlocks[direction], count);
  }
  Value* Thread(Builder& b, unsigned direction, int64_t count) const override {
    constexpr ID kThreads[] = {llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x,
                               llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y,
                               llvm::Intrinsic::nvvm_read_ptx_sreg_tid_z};
    return Register(b, kThreads[direction], count);
  }
  void Barrier(Builder& b) const override { b.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {}); }

  Value* Shuffle(Builder& b, ShuffleMode mode, Value* value, Value* by, unsigned lanes) const override {
    constexpr ID kShuffles[] = {
        llvm::Intrinsic::nvvm_shfl_sync_up_i32, llvm::Intrinsic::nvvm_shfl_sync_down_i32,
        llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, llvm::Intrinsic::nvvm_shfl_sync_idx_i32};
    // Bits 8 to 12: which bits of the lane's number say its group; 0 to 4: the last lane of it, or for `up`
    // the first.
    const unsigned segment = (kWarp - lanes) << 8, last = mode == ShuffleMode::Up ? 0 : kWarp - 1;
    return b.CreateIntrinsic(kShuffles[static_cast<size_t>(mode)], {},
                             {LanesThatCome(b, lanes), value, by, b.getInt32(segment | last)});
  }

  Words LoadMatrices(Builder& b, Value* row, unsigned count, bool across) const override {
    constexpr ID kLoads[][2] = {{llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x1_b16,
                                 llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x1_trans_b16},
                                {llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_b16,
                                 llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_trans_b16},
                                {llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16,
                                 llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16}};
    return Parts(b, b.CreateIntrinsic(kLoads[count / 2][across ? 1 : 0], {row->getType()}, {row}), count);
  }

  Words MultiplyMatrix(Builder& b, const kernel::MatrixUnit& unit, llvm::ArrayRef<Value*> sums,
                       llvm::ArrayRef<Value*> left, llvm::ArrayRef<Value*> right) const override {
    const auto product = llvm::find_if(kProducts, [&](const Product& p) { return p.type == unit.type; });
    llvm::SmallVector<Value*, 10> operands(left);
    operands.append(right.begin(), right.end());
    // Pairs of f16 are vectors, others bits.
    if (unit.type == ElementType::F16)
      for (Value*& operand : operands)
        operand = b.CreateBitCast(operand, llvm::FixedVectorType::get(b.getHalfTy(), 2));
    if (unit.type == ElementType::F32)
      for (Value*& operand : operands)
        operand = b.CreateIntrinsic(llvm::Intrinsic::nvvm_f2tf32_rna, {}, {operand});
    operands.append(sums.begin(), sums.end());
    return Parts(b, b.CreateIntrinsic(product->multiply, {}, operands), static_cast<unsigned>(sums.size()));
  }

  void Copy(Builder& b, Value* to, Value* from, unsigned bytes, Value* exists) const override {
    // What needs all 16 bytes goes past the first cache.
    const auto copy = llvm::find_if(kCopies, [&](const CopyOf& c) { return c.bytes == bytes; });
    if (exists == nullptr)
      b.CreateIntrinsic(copy->whole, {}, {to, from});
    else
      b.CreateIntrinsic(copy->part, {}, {to, from, b.CreateSelect(exists, b.getInt32(bytes), b.getInt32(0))});
  }
  void CommitCopies(Builder& b) const override {
    b.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_commit_group, {}, {});
  }
  void WaitForCopies(Builder& b, unsigned pending) const override {
    b.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_wait_group, {}, {b.getInt32(pending)});
  }

  void SetKernel(llvm::Function& function, std::array<int64_t, 3> threads) const override {
    // The attribute "nvvm.reqntid" is ignored: only annotations count.
    llvm::LLVMContext& context = function.getContext();
    llvm::NamedMDNode* all = function.getParent()->getOrInsertNamedMetadata("nvvm.annotations");
    llvm::IRBuilder<> b(context);
    const auto annotate = [&](const char* key, int64_t value) {
      auto* number = llvm::ConstantAsMetadata::get(b.getInt32(static_cast<uint32_t>(value)));
      all->addOperand(llvm::MDNode::get(
          context, {llvm::ConstantAsMetadata::get(&function), llvm::MDString::get(context, key), number}));
    };
    annotate("kernel", 1);
    annotate("reqntidx", threads[0]);
    annotate("reqntidy", threads[1]);
    annotate("reqntidz", threads[2]);
  }

 private:
  struct Product {
    ElementType type;
    ID multiply;
  };
  static constexpr Product kProducts[] = {
      {ElementType::BF16, llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_bf16},
      {ElementType::F16, llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32},
      {ElementType::F32, llvm::Intrinsic::nvvm_mma_m16n8k8_row_col_tf32},
      {ElementType::S8, llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_s8},
      {ElementType::F64, llvm::Intrinsic::nvvm_mma_m8n8k4_row_col_f64}};
  struct CopyOf {
    unsigned bytes;
    ID whole, part;
  };
  static constexpr CopyOf kCopies[] = {{4, llvm::Intrinsic::nvvm_cp_async_ca_shared_global_4,
                                        llvm::Intrinsic::nvvm_cp_async_ca_shared_global_4_s},
                                       {8, llvm::Intrinsic::nvvm_cp_async_ca_shared_global_8,
                                        llvm::Intrinsic::nvvm_cp_async_ca_shared_global_8_s},
                                       {16, llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16,
                                        llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16_s}};

  static Words Parts(Builder& b, Value* result, unsigned count) {
    if (count == 1) return {result};
    Words parts;
    for (unsigned i = 0; i < count; ++i) parts.push_back(b.CreateExtractValue(result, i));
    return parts;
  }

  static Value* Register(Builder& b, ID id, int64_t count) {
    if (count == 1) return b.getInt32(0);
    llvm::CallInst* call = b.CreateIntrinsic(id, {}, {});
    const llvm::APInt end(32, static_cast<uint64_t>(count));
    call->addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, 0), end));
    return call;
  }

  /// The lanes of the group, all of which run the same instructions.
  static Value* LanesThatCome(Builder& b, unsigned lanes) {
    if (lanes == kWarp) return b.getInt32(UINT32_MAX);
    llvm::CallInst* lane = b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_laneid, {}, {});
    Value* first = b.CreateAnd(lane, b.getInt32(~(lanes - 1)));
    return b.CreateShl(b.getInt32((uint32_t{1} << lanes) - 1), first);
  }
};

class Nvptx final : public CodeTarget {
 public:
  Nvptx()
      : CodeTarget({.name = "nvptx",
                    .lanes = 1,
                    .maximum = true,
                    .subnormals = true,
                    .memory = {.line = 128},
                    .code = CodeLimits()}) {}
  [[nodiscard]] const ThreadTarget* threads() const override { return &threads_; }

  /// Written out, the NaN of GPUs, all ones, would be rounded up to a zero.
  Value* ToBf16(Builder& b, Value* f32) const override {
    const unsigned count = Count(f32);
    if (count == 1) return b.CreateTrunc(Convert(b, nullptr, f32), b.getInt16Ty());
    // Two at once: instructions that convert one are few of a cycle.
    auto* words = llvm::FixedVectorType::get(b.getInt32Ty(), (count + 1) / 2);
    Value* packed = llvm::PoisonValue::get(words);
    for (unsigned i = 0; i < count; i += 2) {
      Value* upper = i + 1 < count ? b.CreateExtractElement(f32, i + 1) : nullptr;
      packed = b.CreateInsertElement(packed, Convert(b, upper, b.CreateExtractElement(f32, i)), i / 2);
    }
    auto* halves = llvm::FixedVectorType::get(b.getInt16Ty(), 2 * words->getNumElements());
    Value* bits = b.CreateBitCast(packed, halves);
    if (count % 2 == 0) return bits;
    return b.CreateShuffleVector(bits, llvm::to_vector(llvm::seq(0, static_cast<int>(count))));
  }
  /// In the upper half of a word a number is the f32 of this value.
  Value* RoundToBf16(Builder& b, Value* f32) const override {
    const auto round = [&](Value* x) { return b.CreateBitCast(Convert(b, x, nullptr), b.getFloatTy()); };
    if (!f32->getType()->isVectorTy()) return round(f32);
    Value* all = llvm::PoisonValue::get(f32->getType());
    for (unsigned i = 0; i < Count(f32); ++i)
      all = b.CreateInsertElement(all, round(b.CreateExtractElement(f32, i)), i);
    return all;
  }
  /// An instruction for each half of a word.
  Value* FromBf16(Builder& b, Value* bits) const override {
    const unsigned count = Count(bits);
    if (count % 2 != 0) return nullptr;
    Value* words = b.CreateBitCast(bits, llvm::FixedVectorType::get(b.getInt32Ty(), count / 2));
    Value* wide = llvm::PoisonValue::get(llvm::FixedVectorType::get(b.getFloatTy(), count));
    for (unsigned i = 0; i < count; ++i) {
      Value* word = b.CreateExtractElement(words, i / 2);
      Value* upper = i % 2 == 0 ? b.CreateShl(word, 16) : b.CreateAnd(word, b.getInt32(0xffff0000));
      wide = b.CreateInsertElement(wide, b.CreateBitCast(upper, b.getFloatTy()), i);
    }
    return wide;
  }

  /// LLVM's frem divides, cuts off and subtracts in floats, which the assembler may fuse: wrong for large
  /// quotients.
  Value* Remainder(Builder& b, Value* x, Value* y) const override { return ExactRemainder(b, x, y); }

 private:
  static unsigned Count(const Value* x) {
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
    return vector == nullptr ? 1 : vector->getNumElements();
  }
  /// Two f32, or 0 where there is none, as the halves of a word.
  static Value* Convert(Builder& b, Value* upper, Value* lower) {
    Value* zero = llvm::ConstantFP::get(b.getFloatTy(), 0);
    llvm::CallInst* pair =
        b.CreateIntrinsic(llvm::Intrinsic::nvvm_ff2bf16x2_rn, {},
                          {upper == nullptr ? zero : upper, lower == nullptr ? zero : lower});
    // LLVM does not know it of this one, and would leave in loops what stands behind it.
    for (const auto attribute :
         {llvm::Attribute::WillReturn, llvm::Attribute::NoUnwind, llvm::Attribute::Speculatable})
      pair->getCalledFunction()->addFnAttr(attribute);
    return b.CreateBitCast(pair, b.getInt32Ty());
  }

  Threads threads_;
};

}  // namespace

const codegen::CodeTarget& NvptxTarget() {
  static const Nvptx target;
  [[maybe_unused]] static const bool known = (codegen::AddCodeTarget(target), true);
  return target;
}

}  // namespace hlo::gpu
