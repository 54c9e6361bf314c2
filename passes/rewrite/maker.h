// Making instructions inside a pass: shapes inferred, places and metadata taken from what they replace.
#pragma once
#include "ir/builder.h"

namespace hlo {

/// Makes instructions before `origin`, which lends them location and metadata. What is made is valid by
/// construction: an instruction that the shape rules reject is a bug of the caller and ends the program.
class Maker {
 public:
  /// Before `origin` in its computation.
  explicit Maker(Instruction* origin);
  /// At the end of a computation; `origin` may be null.
  explicit Maker(Computation& computation, const Instruction* origin = nullptr);

  [[nodiscard]] Computation& computation() const { return computation_; }
  [[nodiscard]] Module& module() const { return *computation_.module(); }

  Instruction* Add(OpKind kind, llvm::ArrayRef<Instruction*> operands, Attrs attrs = {},
                   llvm::ArrayRef<Computation*> callees = {}, llvm::StringRef name = "");
  /// For ops whose shape must be given, or should keep a layout or dynamic flags.
  Instruction* AddWithShape(OpKind kind, const Shape& shape, llvm::ArrayRef<Instruction*> operands,
                            Attrs attrs = {}, llvm::ArrayRef<Computation*> callees = {},
                            llvm::StringRef name = "");
  Instruction* Parameter(int64_t number, const Shape& shape, llvm::StringRef name = "param");

  // Constants. Values are rounded to the type as convert does; complex types get them as real part.
  Instruction* Constant(Literal literal);
  Instruction* Scalar(ElementType type, double value);
  Instruction* ScalarInt(ElementType type, int64_t value);
  /// Every element `value`: a scalar constant, broadcast if the shape has dimensions.
  Instruction* Full(const Shape& shape, double value);
  /// A scalar broadcast to the shape (its element type and layout too); itself if the shape is scalar.
  Instruction* Splat(const Shape& shape, Instruction* scalar);
  /// An operand of a map to the shape as an array: maps may have scalars beside arrays, operations on arrays
  /// not.
  Instruction* MapOperand(const Shape& shape, Instruction* operand);
  Instruction* Iota(const Shape& shape, int64_t dimension);

  // Elementwise.
  Instruction* Unary(OpKind kind, Instruction* x) { return Add(kind, {x}); }
  Instruction* Binary(OpKind kind, Instruction* x, Instruction* y) { return Add(kind, {x, y}); }
  Instruction* Compare(Direction direction, Instruction* x, Instruction* y,
                       std::optional<CompareType> type = std::nullopt);
  Instruction* Select(Instruction* p, Instruction* x, Instruction* y) {
    return Add(OpKind::Select, {p, x, y});
  }
  /// Itself if it has the type already.
  Instruction* Convert(Instruction* x, ElementType type);
  Instruction* BitcastConvert(Instruction* x, const Shape& shape);

  // Data movement. Shapes in arguments give dimensions, type and layout of the result.
  Instruction* Broadcast(Instruction* x, const Shape& shape, llvm::ArrayRef<int64_t> dimensions);
  /// A constant of one element becomes another constant.
  Instruction* Reshape(Instruction* x, llvm::ArrayRef<int64_t> dims);
  Instruction* Reshape(Instruction* x, const Shape& shape);
  Instruction* Bitcast(Instruction* x, const Shape& shape);
  Instruction* Transpose(Instruction* x, llvm::ArrayRef<int64_t> permutation);
  Instruction* Reverse(Instruction* x, llvm::ArrayRef<int64_t> dimensions);
  Instruction* Slice(Instruction* x, llvm::ArrayRef<SliceRange> ranges);
  /// One dimension cut to [start, limit), the others whole.
  Instruction* SliceDim(Instruction* x, int64_t dimension, int64_t start, int64_t limit, int64_t stride = 1);
  Instruction* Pad(Instruction* x, Instruction* value, llvm::ArrayRef<PaddingDim> padding);
  Instruction* Concatenate(llvm::ArrayRef<Instruction*> xs, int64_t dimension);
  Instruction* DynamicSlice(Instruction* x, llvm::ArrayRef<Instruction*> indices,
                            llvm::ArrayRef<int64_t> sizes);
  Instruction* DynamicUpdateSlice(Instruction* x, Instruction* update, llvm::ArrayRef<Instruction*> indices);
  Instruction* Copy(Instruction* x) { return Add(OpKind::Copy, {x}); }

  // Tuples and calls.
  Instruction* Tuple(llvm::ArrayRef<Instruction*> xs) { return Add(OpKind::Tuple, xs); }
  Instruction* Gte(Instruction* x, int64_t index);
  Instruction* Call(Computation* callee, llvm::ArrayRef<Instruction*> arguments) {
    return Add(OpKind::Call, arguments, {}, {callee});
  }
  Instruction* While(Computation* condition, Computation* body, Instruction* init) {
    return Add(OpKind::While, {init}, {}, {body, condition});
  }

  // Reductions and products.
  Instruction* Reduce(Instruction* x, Instruction* init, llvm::ArrayRef<int64_t> dimensions, Computation* by);
  /// With a combiner made of one opcode on scalars.
  Instruction* Reduce(Instruction* x, Instruction* init, llvm::ArrayRef<int64_t> dimensions, OpKind by);
  Instruction* Dot(Instruction* x, Instruction* y, DotAttrs attrs) {
    return Add(OpKind::Dot, {x, y}, std::move(attrs));
  }
  /// Dot with a preferred element type of the result.
  Instruction* Dot(Instruction* x, Instruction* y, DotAttrs attrs, ElementType result);
  /// A computation `(x, y) -> kind(x, y)` on scalars; an existing one is used again.
  Computation* ScalarComputation(OpKind kind, ElementType type);

 private:
  Computation& computation_;
  Builder builder_;
};

/// A new computation of the module with a unique name.
Computation* NewComputation(Module& module, llvm::StringRef name);
/// A scalar literal of the type: `value` rounded as convert does.
Literal ScalarLiteral(ElementType type, double value);
Literal ScalarLiteralInt(ElementType type, int64_t value);

}  // namespace hlo
