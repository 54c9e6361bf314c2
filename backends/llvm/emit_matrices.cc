// Tiles of matrices that lanes multiply together, and copies into shared memory.
#include <numeric>

#include "backends/llvm/emit_ops.h"
#include "backends/llvm/kernel_emitter.h"
#include "backends/llvm/thread_target.h"
#include "llvm/Analysis/VectorUtils.h"

namespace hlo::codegen {

using kernel::CopyStmt;
using kernel::FactorPlace;
using kernel::LoadMatrixStmt;
using kernel::MatrixUnit;
using kernel::MultiplyMatrixStmt;
using llvm::Type;
using llvm::Value;

namespace {

/// Matrices of 8 rows of 16 bytes, as LoadMatrices() takes them.
constexpr int64_t kRows = 8, kRowBytes = 16;
constexpr int64_t kParts = kernel::kMatrixParts;

int64_t WordsOfFactor(const LoadMatrixStmt& stmt) {
  return stmt.right ? kernel::RightWords(stmt.unit) : kernel::LeftWords(stmt.unit);
}

/// Whether words are what rows of matrices give: of neighbours, or across of elements of 16 bits.
bool IsOfRows(const LoadMatrixStmt& stmt, int64_t alignment) {
  const int64_t bits = Info(stmt.unit.type).bits;
  return bits < 32 && (!stmt.across || bits == 16) && alignment >= kRowBytes;
}

}  // namespace

Value* KernelEmitter::LaneNumber() {
  const kernel::Dimension lane{.id = -1, .extent = shape_.extents[0], .binding = kernel::Binding::Lane};
  return b_.CreateZExt(NumberOf(lane), b_.getInt64Ty(), "", /*IsNonNeg=*/true);
}

Value* KernelEmitter::WordPointer(kernel::BufferId buffer, const kernel::Address& address, int64_t word) {
  kernel::Address place = address;
  place.offset += word;
  return Pointer(buffer, PlaceOf(place).scalar);
}

bool KernelEmitter::IsInPieces(kernel::BufferId buffer) const {
  const kernel::Buffer& of = kernel_.buffers[static_cast<size_t>(buffer)];
  return of.swizzle.mask != 0 && int64_t{vector_.width} * Info(of.type).host_bytes() > kRowBytes;
}

Value* KernelEmitter::LoadPieces(kernel::BufferId buffer, Value* first) {
  const auto each =
      static_cast<unsigned>(kRowBytes / Info(kernel_.buffers[static_cast<size_t>(buffer)].type).host_bytes());
  auto* type = llvm::FixedVectorType::get(TypeInMemory(buffer), each);
  llvm::SmallVector<Value*, 4> pieces;
  for (unsigned i = 0; i < vector_.width; i += each) {
    Value* pointer = Pointer(buffer, b_.CreateAdd(first, Int64(i)));
    pieces.push_back(b_.CreateAlignedLoad(type, pointer, llvm::Align(kRowBytes)));
  }
  return llvm::concatenateVectors(b_, pieces);
}

llvm::SmallVector<Value*, 4> KernelEmitter::WordsOf(const MultiplyMatrixStmt::Words& words, int64_t count) {
  llvm::SmallVector<Value*, 4> loaded;
  Type* type = TypeInMemory(words.buffer);
  for (int64_t i = 0; i < count; ++i)
    loaded.push_back(b_.CreateAlignedLoad(type, WordPointer(words.buffer, words.address, i), AlignOf(type)));
  return loaded;
}

llvm::SmallVector<Value*, 4> KernelEmitter::LoadRows(const LoadMatrixStmt& stmt) {
  // The rows of a matrix are lines of the factor, or elements of the same depth. Matrices follow each other
  // as the words of a lane do.
  const int64_t elements = kRowBytes / Info(stmt.unit.type).host_bytes(), count = WordsOfFactor(stmt);
  const int64_t halves = stmt.right ? 1 : int64_t{stmt.unit.rows} / kRows;
  Value* lane = LaneNumber();
  Value* row = b_.CreateAnd(lane, Int64(kRows - 1));
  Value* matrix = b_.CreateAnd(b_.CreateUDiv(lane, Int64(kRows)), Int64(count - 1));
  Value* half = b_.CreateAnd(matrix, Int64(halves - 1));
  Value* deep = halves == 1 ? matrix : b_.CreateUDiv(matrix, Int64(halves));
  // line = row + 8 * half, depth = elements * deep; across: depth = row + 8 * deep, line = 8 * half.
  const auto sum = [&](Value* x, int64_t times_x, Value* y, int64_t times_y) {
    return b_.CreateAdd(b_.CreateMul(x, Int64(times_x)), b_.CreateMul(y, Int64(times_y)));
  };
  Value* line = b_.CreateAdd(row, b_.CreateMul(half, Int64(kRows)));
  Value* offset = stmt.across ? b_.CreateAdd(sum(row, stmt.pitch, deep, kRows * stmt.pitch),
                                             b_.CreateMul(half, Int64(kRows)))
                              : sum(line, stmt.pitch, deep, elements);
  Value* place = b_.CreateAdd(PlaceOf(stmt.address).scalar, offset);
  return threads_->LoadMatrices(b_, Pointer(stmt.from, place), static_cast<unsigned>(count), stmt.across);
}

llvm::SmallVector<Value*, 4> KernelEmitter::LoadWords(const LoadMatrixStmt& stmt) {
  const int64_t count = WordsOfFactor(stmt), each = kernel::ElementsOfWord(stmt.unit);
  const auto place = [&](int64_t lane, int64_t word) {
    const FactorPlace at =
        stmt.right ? kernel::RightPlace(stmt.unit, lane, word) : kernel::LeftPlace(stmt.unit, lane, word);
    return stmt.across ? at.line + at.depth * stmt.pitch : at.line * stmt.pitch + at.depth;
  };
  // Linear in the lane's group and its part of the group.
  Value* lane = LaneNumber();
  Value* group = b_.CreateUDiv(lane, Int64(kParts));
  Value* part = b_.CreateAnd(lane, Int64(kParts - 1));
  Value* base = b_.CreateAdd(
      PlaceOf(stmt.address).scalar,
      b_.CreateAdd(b_.CreateMul(group, Int64(place(kParts, 0))), b_.CreateMul(part, Int64(place(1, 0)))));
  Type* element = TypeInMemory(stmt.from);
  const auto load = [&](Type* type, int64_t offset, int64_t bytes) {
    return b_.CreateAlignedLoad(type, Pointer(stmt.from, b_.CreateAdd(base, Int64(offset))),
                                llvm::Align(static_cast<uint64_t>(bytes)));
  };
  const int64_t bytes = Info(stmt.unit.type).host_bytes();
  llvm::SmallVector<Value*, 4> words;
  if (IsOfLanes(stmt.unit) && !stmt.across) {
    // A lane's words lie side by side.
    Value* all = load(llvm::FixedVectorType::get(element, static_cast<unsigned>(count)), 0, bytes * count);
    for (int64_t i = 0; i < count; ++i) words.push_back(b_.CreateExtractElement(all, Int64(i)));
    return words;
  }
  for (int64_t i = 0; i < count; ++i) {
    if (each == 1 || !stmt.across) {
      words.push_back(load(each == 1 ? element : b_.getInt32Ty(), place(0, i), bytes * each));
      continue;
    }
    Value* word = b_.getInt32(0);
    const auto bits = static_cast<uint64_t>(Info(stmt.unit.type).bits);
    for (int64_t e = 0; e < each; ++e) {
      Value* one = load(b_.getIntNTy(static_cast<unsigned>(bits)), place(0, i) + e * stmt.pitch, bytes);
      one = b_.CreateShl(b_.CreateZExt(one, b_.getInt32Ty()), static_cast<uint64_t>(e) * bits);
      word = b_.CreateOr(word, one);
    }
    words.push_back(word);
  }
  return words;
}

Status KernelEmitter::Emit(const LoadMatrixStmt& stmt) {
  const int64_t bytes = Info(stmt.unit.type).host_bytes();
  const auto aligned = AlignAt(stmt.from, stmt.address, llvm::Align(1)).value();
  const bool of_rows = IsOfRows(stmt, std::gcd(static_cast<int64_t>(aligned), stmt.pitch * bytes));
  const auto words = of_rows ? LoadRows(stmt) : LoadWords(stmt);
  for (size_t i = 0; i < words.size(); ++i)
    b_.CreateAlignedStore(words[i], WordPointer(stmt.into, stmt.at, static_cast<int64_t>(i)),
                          AlignOf(words[i]->getType()));
  return {};
}

Status KernelEmitter::Emit(const MultiplyMatrixStmt& stmt) {
  auto sums = WordsOf(stmt.sums, kernel::SumWords(stmt.unit));
  const auto left = WordsOf(stmt.left, kernel::LeftWords(stmt.unit));
  const auto right = WordsOf(stmt.right, kernel::RightWords(stmt.unit));
  if (!IsOfLanes(stmt.unit)) {
    sums = threads_->MultiplyMatrix(b_, stmt.unit, sums, left, right);
  } else {
    for (size_t i = 0; i < left.size(); ++i)
      sums[0] = IsFloat(stmt.unit.type) ? b_.CreateIntrinsic(llvm::Intrinsic::fma, {sums[0]->getType()},
                                                             {left[i], right[i], sums[0]})
                                        : b_.CreateAdd(b_.CreateMul(left[i], right[i]), sums[0]);
  }
  for (size_t i = 0; i < sums.size(); ++i)
    b_.CreateAlignedStore(sums[i], WordPointer(stmt.sums.buffer, stmt.sums.address, static_cast<int64_t>(i)),
                          AlignOf(sums[i]->getType()));
  return {};
}

Status KernelEmitter::Emit(const CopyStmt& stmt) {
  Value* to = Pointer(stmt.into, PlaceOf(stmt.at).scalar);
  Value* place = PlaceOf(stmt.address).scalar;
  Value* from =
      Pointer(stmt.from, stmt.mask < 0 ? place : b_.CreateSelect(At(stmt.mask).compute, place, Int64(0)));
  const int64_t bytes = stmt.count * Info(kernel_.buffers[static_cast<size_t>(stmt.from)].type).host_bytes();
  threads_->Copy(b_, to, from, static_cast<unsigned>(bytes), stmt.mask < 0 ? nullptr : At(stmt.mask).compute);
  return {};
}
Status KernelEmitter::Emit(const kernel::CommitCopiesStmt&) {
  threads_->CommitCopies(b_);
  return {};
}
Status KernelEmitter::Emit(const kernel::WaitForCopiesStmt& stmt) {
  threads_->WaitForCopies(b_, static_cast<unsigned>(stmt.pending));
  return {};
}

}  // namespace hlo::codegen
