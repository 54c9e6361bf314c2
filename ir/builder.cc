#include "ir/builder.h"

#include "ir/infer/infer.h"

namespace hlo {
namespace {

/// A name of the module: the wanted one or the opcode, made unique.
llvm::StringRef NameFor(Computation& computation, OpKind kind, llvm::StringRef wanted) {
  Module& module = *computation.module();
  return module.UniqueInstructionName(wanted.empty() ? ToString(kind) : module.Save(wanted));
}

}  // namespace

Instruction* Builder::Made(Instruction* added) const {
  added->set_loc(loc_);
  added->set_metadata(metadata_);
  return added;
}

Result<Instruction*> Builder::Add(OpKind kind, llvm::ArrayRef<Instruction*> operands, Attrs attrs,
                                  llvm::ArrayRef<Computation*> callees, llvm::StringRef name) {
  return AddWithShape(kind, Shape(), operands, std::move(attrs), callees, name);
}

Result<Instruction*> Builder::AddWithShape(OpKind kind, Shape shape, llvm::ArrayRef<Instruction*> operands,
                                           Attrs attrs, llvm::ArrayRef<Computation*> callees,
                                           llvm::StringRef name) {
  Instruction* added = computation_.Add(kind, std::move(shape), NameFor(computation_, kind, name), operands,
                                        std::move(attrs), callees, before_);
  Made(added);
  Result<Shape> inferred = InferShape(*added);
  Status fits;
  if (inferred && added->shape().valid()) fits = CheckWrittenShape(*added, *inferred);
  if (inferred && fits) {
    if (!added->shape().valid()) added->set_shape(std::move(*inferred));
    return added;
  }
  Diagnostic why = inferred ? std::move(fits).error() : std::move(inferred).error();
  computation_.Remove(added);
  return Error(std::move(why));
}

Instruction* Builder::Parameter(int64_t number, Shape shape, llvm::StringRef name) {
  ParameterAttrs attrs;
  attrs.number = number;
  return Made(computation_.Add(OpKind::Parameter, std::move(shape),
                               NameFor(computation_, OpKind::Parameter, name), {}, std::move(attrs), {},
                               before_));
}

Instruction* Builder::Constant(const Literal& literal, llvm::StringRef name) {
  ConstantAttrs attrs;
  Shape shape = literal.shape();
  attrs.literal = std::make_shared<const Literal>(literal.Pack());
  return Made(computation_.Add(OpKind::Constant, std::move(shape),
                               NameFor(computation_, OpKind::Constant, name), {}, std::move(attrs), {},
                               before_));
}

}  // namespace hlo
