#include "ir/eval/custom_call_library.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include "ir/eval/custom_call.h"
#include "ir/eval/custom_call_api.h"
#include "ir/eval/physical_order.h"
#include "ir/support/library_use.h"
#include "llvm/ADT/STLExtras.h"

/// Of one call, made by the calling thread.
struct XlaCustomCallStatus_ {  // NOLINT(readability-identifier-naming): the name is XLA's
  bool failed = false;
  std::string message;
};

extern "C" void XlaCustomCallStatusSetSuccess(XlaCustomCallStatus* status) { *status = {}; }
extern "C" void XlaCustomCallStatusSetFailure(XlaCustomCallStatus* status, const char* message,
                                              size_t message_len) {
  *status = {true, std::string(message, message_len)};
}

namespace hlo {
namespace {

/// What a function is called with.
struct Frame {
  void* out;
  const void** in;
  llvm::StringRef opaque;
  XlaCustomCallStatus* status;
};
void CallOriginal(void* f, const Frame& frame) {
  reinterpret_cast<void (*)(void*, const void**)>(f)(frame.out, frame.in);
}
void CallStatusReturning(void* f, const Frame& frame) {
  reinterpret_cast<void (*)(void*, const void**, XlaCustomCallStatus*)>(f)(frame.out, frame.in, frame.status);
}
void CallUnified(void* f, const Frame& frame) {
  reinterpret_cast<void (*)(void*, const void**, const char*, size_t, XlaCustomCallStatus*)>(f)(
      frame.out, frame.in, frame.opaque.data(), frame.opaque.size(), frame.status);
}

// By ApiVersion; null: not callable.
constexpr void (*kConventions[])(void*, const Frame&) = {CallOriginal, CallOriginal, CallStatusReturning,
                                                         CallUnified, nullptr};

auto ConventionOf(const Instruction& inst) {
  return kConventions[static_cast<size_t>(inst.attr<CustomCallAttrs>().api_version)];
}

/// The shape of operand `i` with the layout in which the function gets it.
const Shape& OperandForm(const Instruction& inst, size_t i) {
  const auto& constraints = inst.attr<CustomCallAttrs>().operand_layout_constraints;
  return constraints && i < constraints->size() ? (*constraints)[i]
                                                : inst.operand(static_cast<int64_t>(i))->shape();
}

Status CheckLeaf(const Instruction& inst, const Shape& leaf) {
  if (!leaf.IsArray() && !leaf.IsToken())
    return Error("unsupported-shape", inst.loc(), "%{0}: a library cannot be given {1}", inst.name(), leaf);
  if (!leaf.IsArray()) return {};
  if (leaf.HasDynamicDimension())
    return Error("unsupported-shape", inst.loc(),
                 "%{0}: {1} has sizes of the run; a library is given arrays of fixed sizes", inst.name(),
                 leaf);
  if (leaf.has_layout() && (!leaf.layout().tiles.empty() || leaf.layout().element_size_bits != 0 ||
                            leaf.layout().tail_padding_alignment != 1))
    return Error("unsupported-shape", inst.loc(),
                 "%{0}: {1} has tiles, packed elements or padding; a library is given dense arrays",
                 inst.name(), leaf);
  return {};
}

Status CheckLeaves(const Instruction& inst, const Shape& shape) {
  Status status;
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    if (status) status = CheckLeaf(inst, leaf);
  });
  return status;
}

/// An array as the function sees it: in the order of its layout, at an aligned address.
Literal PhysicalArray(const Literal& value, const Shape& form) {
  constexpr uintptr_t kAlignment = 64;
  if (IsRowMajor(form) && reinterpret_cast<uintptr_t>(value.data()) % kAlignment == 0) return value;
  Literal physical = Literal::Make(form);
  CopyToPhysical(value.data(), form, physical.MutableData());
  return physical;
}

struct OperandLeaf {
  size_t operand;
  ShapeIndex index;
  Literal value;  // physical; not valid for tokens
};

std::vector<OperandLeaf> OperandLeaves(const Instruction& inst, llvm::ArrayRef<Literal> operands) {
  std::vector<OperandLeaf> leaves;
  for (size_t i = 0; i < operands.size(); ++i)
    ForEachLeaf(OperandForm(inst, i), [&](const ShapeIndex& index, const Shape& form) {
      const Literal* value = &operands[i];
      for (const int64_t element : index) value = &value->element(element);
      leaves.push_back({i, index, form.IsArray() ? PhysicalArray(*value, form) : Literal()});
    });
  return leaves;
}

/// The operand leaf whose buffer a leaf of the result shares; null if none.
OperandLeaf* AliasOf(const Instruction& inst, const ShapeIndex& output, std::vector<OperandLeaf>& leaves) {
  for (const OutputOperandAlias& alias : inst.attr<CustomCallAttrs>().output_to_operand_aliasing) {
    if (output.size() < alias.output.size() ||
        !std::equal(alias.output.begin(), alias.output.end(), output.begin()))
      continue;
    ShapeIndex source(alias.operand_index);
    source.append(output.begin() + static_cast<ptrdiff_t>(alias.output.size()), output.end());
    for (OperandLeaf& leaf : leaves)
      if (leaf.operand == static_cast<size_t>(alias.operand) && leaf.index == source) return &leaf;
  }
  return nullptr;
}

/// What the function has left in an array, in row-major order and with elements in the form all others have.
Literal LogicalArray(Literal physical, const Shape& shape) {
  Literal value = std::move(physical);
  if (!IsRowMajor(shape)) {
    Literal row_major = Literal::Make(shape);
    CopyFromPhysical(value.data(), shape, row_major.MutableData());
    value = std::move(row_major);
  }
  const TypeInfo& info = Info(shape.element_type());
  if (shape.element_type() == ElementType::Pred)
    for (uint8_t& byte : value.MutableSpan<uint8_t>()) byte = byte != 0;
  else if (info.is_packed())
    for (int64_t i = 0; i < shape.ElementCount(); ++i) value.SetBits(i, value.Bits(i));
  return value;
}

Literal Assemble(const Shape& shape, std::vector<Literal>::iterator& leaf) {
  if (!shape.IsTuple()) return std::move(*leaf++);
  std::vector<Literal> elements;
  for (const Shape& element : shape.tuple_shapes()) elements.push_back(Assemble(element, leaf));
  return Literal::MakeTuple(std::move(elements));
}

}  // namespace

Result<std::shared_ptr<const CustomCallLibraries>> CustomCallLibraries::Load(
    llvm::ArrayRef<std::string> names) {
  auto libraries = std::make_shared<CustomCallLibraries>();
  for (const std::string& name : names) {
    // The loader looks into the present folder only for names with a slash.
    const bool here = name.find('/') == std::string::npos && access(name.c_str(), F_OK) == 0;
    const LibraryScope loading({name.c_str()});
    void* handle = dlopen((here ? "./" + name : name).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
      return Error("unavailable-library", {}, "cannot load custom-call library '{0}': {1}", name, dlerror());
    libraries->names_.push_back(name);
    libraries->handles_.push_back(handle);
  }
  return libraries;
}

LibraryFunction CustomCallLibraries::Find(llvm::StringRef target) const {
  const std::string symbol = target.str();
  for (size_t i = 0; i < handles_.size(); ++i) {
    void* address = dlsym(handles_[i], symbol.c_str());
    link_map* library = nullptr;
    Dl_info info;
    link_map* owner = nullptr;
    if (address != nullptr && dlinfo(handles_[i], RTLD_DI_LINKMAP, static_cast<void*>(&library)) == 0 &&
        dladdr1(address, &info, reinterpret_cast<void**>(&owner), RTLD_DL_LINKMAP) != 0 && owner == library)
      return {address, &names_[i]};
  }
  return {};
}

Status CheckLibraryCall(const Instruction& inst) {
  const auto& attrs = inst.attr<CustomCallAttrs>();
  if (ConventionOf(inst) == nullptr)
    return Error("unsupported-custom-call", inst.loc(),
                 "%{0}: functions of libraries are called by {1}, {2} or {3}, but target '{4}' has {5}",
                 inst.name(), ToString(ApiVersion::Original), ToString(ApiVersion::StatusReturning),
                 ToString(ApiVersion::StatusReturningUnified), attrs.custom_call_target,
                 ToString(attrs.api_version));
  for (size_t i = 0; i < inst.operands().size(); ++i) HLO_CHECK_OK(CheckLeaves(inst, OperandForm(inst, i)));
  return CheckLeaves(inst, inst.shape());
}

std::vector<Diagnostic> ShadowedFunctions(const Module& module, const CustomCallLibraries& libraries) {
  std::vector<Diagnostic> warnings;
  llvm::StringMap<bool> seen;
  for (const auto& computation : module.computations())
    for (const Instruction* inst : computation->instructions()) {
      if (inst->kind() != OpKind::CustomCall) continue;
      const std::string& target = inst->attr<CustomCallAttrs>().custom_call_target;
      if (!seen.try_emplace(target, true).second || FindCustomCallTarget(target) == nullptr) continue;
      const LibraryFunction function = libraries.Find(target);
      if (function.address == nullptr) continue;
      warnings.push_back(MakeError("custom-call-builtin", inst->loc(),
                                   "%{0}: '{1}' is a built-in target; the function of that name in library "
                                   "'{2}' is not called",
                                   inst->name(), target, *function.file));
      warnings.back().severity = Severity::Warning;
    }
  return warnings;
}

Result<Literal> CallLibrary(const LibraryFunction& function, const Instruction& inst,
                            llvm::ArrayRef<Literal> operands) {
  std::vector<OperandLeaf> leaves = OperandLeaves(inst, operands);
  std::vector<Literal> results;
  std::vector<void*> out;
  ForEachLeaf(inst.shape(), [&](const ShapeIndex& index, const Shape& leaf) {
    if (!leaf.IsArray()) {
      results.push_back(Literal::MakeToken());
      out.push_back(nullptr);
      return;
    }
    Literal& result = results.emplace_back(Literal::Zeros(leaf));
    out.push_back(result.MutableData());
    if (OperandLeaf* shared = AliasOf(inst, index, leaves)) {
      std::memcpy(out.back(), shared->value.data(), result.byte_size());
      shared->value = Literal::Borrow(shared->value.shape(), out.back(), nullptr);
    }
  });
  std::vector<const void*> in;
  for (const OperandLeaf& leaf : leaves) in.push_back(leaf.value.valid() ? leaf.value.data() : nullptr);
  in.push_back(nullptr);  // never an empty array

  const std::string& target = inst.attr<CustomCallAttrs>().custom_call_target;
  const std::string name = inst.name().str();
  XlaCustomCallStatus status;
  {
    const LibraryScope scope({function.file->c_str(), target.c_str(), name.c_str()});
    void* const first = inst.shape().IsArray() ? out[0] : static_cast<void*>(out.data());
    ConventionOf(inst)(function.address, {first, in.data(), inst.extras().backend_config, &status});
  }
  if (status.failed)
    return Error("runtime-custom-call", inst.loc(), "%{0}: target '{1}' of library '{2}' failed: {3}", name,
                 target, *function.file, status.message);
  size_t at = 0;
  ForEachLeaf(inst.shape(), [&](const ShapeIndex&, const Shape& leaf) {
    Literal& result = results[at++];
    if (leaf.IsArray()) result = LogicalArray(std::move(result), leaf);
  });
  auto leaf = results.begin();
  Literal value = Assemble(inst.shape(), leaf);
  return inst.shape().IsTuple() ? value.WithShape(inst.shape()) : value;
}

}  // namespace hlo
