// What a machine has instructions for that emitted code names itself; others LLVM takes as it sees fit.
//
// Each function emits what it says by the machine's instructions, or gives null where there are none, and the
// caller writes it out of what all machines have. What code computes is the same, bit for bit.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/IRBuilder.h"

namespace llvm {
class MCSubtargetInfo;
class Module;
class TargetMachine;
}  // namespace llvm

namespace hlo::codegen {

class ThreadTarget;

class CodeTarget {
 public:
  using Value = llvm::Value;
  using Builder = llvm::IRBuilderBase;

  /// What is fetched before it is wanted, in bytes.
  struct Memory {
    int64_t line = 64;
    int64_t fetched = INT64_MAX;  // smaller arrays are in a near cache: nothing of them is fetched
    int64_t rows_ahead = 0;       // rows, of those that numbers tell
    int64_t row_lines = 0;        // lines of such a row, at most
    int64_t window_step = 0;      // most that windows slide along memory
    int64_t windows_ahead = 0;
    int64_t longest_row = 0;  // that is fetched while the one before is read
  };
  /// How far code is written out instead of looped or called: more fills the caches of instructions.
  struct Code {
    int64_t tiny_loop = 8, tiny_stmts = 64;    // iterations of a loop, statements of all of them
    int64_t short_row = 8, short_stmts = 512;  // the same of a row whose lanes are other rows
    int64_t last_vectors = 2;                  // at the end of a loop, as it is known which lanes exist
    int64_t turns = 8;                         // vectors that are stored by turns
    int64_t neighbours = 8;        // vectors of four bytes that are loaded to pick elements of them
    int64_t extremes = 16;         // fewer elements are compared one by one, …
    int64_t extremes_columns = 6;  // … in columns, where no lanes are left to fold at the end
    size_t inlined = 600;          // instructions of a kernel in a routine …
    size_t routine = 20000;        // … that has so many at most
  };
  struct Facts {
    llvm::StringRef name;      // as modules have it
    int64_t lanes = 4;         // of a register of f32
    unsigned scalar_bits = 0;  // of the vector register in which a float lies; 0: of its own
    bool exponents = false;    // ScaleOrZero() and Split(): both, for vectors of a power of two of lanes
    bool halves = false;       // conversions of vectors between f16 and f32
    bool compares = false;     // two comparisons take less time than llvm.maximum
    bool maximum = false;      // llvm.maximum and minimum of f32 are instructions
    bool subnormals = false;   // take no longer than other numbers
    Memory memory = {};
    Code code = {};
  };

  virtual ~CodeTarget() = default;
  [[nodiscard]] const Facts& facts() const { return facts_; }

  /// x * 2^k where `keep` holds, else 0; k, a float of any value where it does not, is whole where it does.
  virtual Value* ScaleOrZero(Builder& b, Value* keep, Value* x, Value* k) const;
  /// x = 2^first * second of f32 with the latter in [3/4, 3/2). NaN gives NaN twice, negative numbers a NaN
  /// as mantissa, 0 and infinity the exponents -inf and inf.
  virtual std::pair<Value*, Value*> Split(Builder& b, Value* x) const;
  /// table[index mod 16] in each lane of a power of two of them.
  virtual Value* Lookup(Builder& b, llvm::ArrayRef<double> table, Value* index) const;
  /// x & y where the mask has ones, else x | y.
  virtual Value* AndElseOr(Builder& b, Value* x, Value* y, Value* mask) const;
  /// The bits of f32 and what rounds them to their upper half: 0x7fff and their bit 16, which is all of
  /// `last`.
  virtual Value* RoundBitsToBf16(Builder& b, Value* bits, Value* last) const;
  /// The bits of f32 that are not subnormal as bf16, to nearest even.
  virtual Value* NormalToBf16(Builder& b, Value* f32) const;
  /// Whether any lane is subnormal, or with `or_nan` NaN. There is this where there is NormalToBf16().
  virtual Value* AnySubnormal(Builder& b, Value* f32, bool or_nan) const;

  /// The bits of any f32 as bf16, to nearest even, some NaN of NaN; null: written out.
  virtual Value* ToBf16(Builder& b, Value* f32) const;
  /// The same as f32. There is this where there is ToBf16(); who needs both forms asks for both.
  virtual Value* RoundToBf16(Builder& b, Value* f32) const;
  /// bf16 of its bits, as f32; null: written out.
  virtual Value* FromBf16(Builder& b, Value* bits) const;
  /// x - y * trunc(x / y) of floats, exact, as C's fmod; null: LLVM's frem is that.
  virtual Value* Remainder(Builder& b, Value* x, Value* y) const;
  /// Whether any of a vector of conditions holds: one by one where vectors are so many values.
  Value* AnyLane(Builder& b, Value* conditions) const;
  /// How it runs kernels of blocks and threads; null: it runs none.
  [[nodiscard]] virtual const ThreadTarget* threads() const { return nullptr; }

  /// Whether it has fused multiplication and addition of vectors, and rounds them to integers.
  [[nodiscard]] virtual bool HasFma(const llvm::MCSubtargetInfo& /*has*/) const { return true; }
  [[nodiscard]] virtual bool HasRounding(const llvm::MCSubtargetInfo& /*has*/) const { return true; }

 protected:
  explicit CodeTarget(const Facts& facts) : facts_(facts) {}

 private:
  Facts facts_;
};

/// The one that suits the machine: of X86, or the one of all machines.
const CodeTarget& CodeTargetFor(const llvm::TargetMachine& machine);
/// By its name; null if there is none.
const CodeTarget* FindCodeTarget(llvm::StringRef name);
/// Makes a target of another folder known by its name; it lives as long as the program.
void AddCodeTarget(const CodeTarget& target);

/// For all code that is emitted into the module from now on; modules begin with the one of all machines.
void SetCodeTarget(llvm::Module& module, const CodeTarget& target);
const CodeTarget& CodeTargetOf(const llvm::Module& module);
/// Of the module into which code is being emitted.
const CodeTarget& CodeTargetOf(const llvm::IRBuilderBase& b);

}  // namespace hlo::codegen
