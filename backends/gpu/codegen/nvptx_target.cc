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
  Nvptx() : CodeTarget({.name = "nvptx", .lanes = 1, .memory = {.line = 128}, .code = CodeLimits()}) {}
  [[nodiscard]] const ThreadTarget* threads() const override { return &threads_; }

  /// Written out, the NaN of GPUs, all ones, would be rounded up to a zero.
  Value* ToBf16(Builder& b, Value* f32) const override {
    const auto same_width = [&](llvm::Type* type) { return codegen::SameWidth(type, f32->getType()); };
    return b.CreateBitCast(b.CreateFPTrunc(f32, same_width(b.getBFloatTy())), same_width(b.getInt16Ty()));
  }

  /// LLVM's frem divides, cuts off and subtracts in floats, which the assembler may fuse: wrong for large
  /// quotients.
  Value* Remainder(Builder& b, Value* x, Value* y) const override { return ExactRemainder(b, x, y); }

 private:
  Threads threads_;
};

}  // namespace

const codegen::CodeTarget& NvptxTarget() {
  static const Nvptx target;
  [[maybe_unused]] static const bool known = (codegen::AddCodeTarget(target), true);
  return target;
}

}  // namespace hlo::gpu
