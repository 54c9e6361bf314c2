#include "ir/binary.h"

#include "ir/binary_members.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo {
namespace {

/// Of literals, by what follows.
enum class LiteralForm : uint8_t { Null, Numbered, Array, Packed, Tuple, Empty, Elided };
constexpr uint64_t kLiteralForms = 7;

/// A part of a literal that is no array with known elements.
bool IsEmpty(const Literal& literal) { return !literal.shape().IsArray() && !literal.shape().IsTuple(); }

/// Equal for copies of one object, whatever it holds: where its sizes are stored.
const void* IdentityOf(const Shape& shape) { return shape.dims().data(); }

/// Writes a module; shapes and metadata once each.
class ModuleWriter : public BinaryWriter {
 public:
  ModuleWriter(const hlo::Module& module, const BinaryLiterals* literals)
      : module_(module), literals_(literals) {}

  void ShapeOf(const Shape& shape) {
    if (!shape.valid()) return Number(0);
    const auto [it, added] = shapes_.try_emplace(IdentityOf(shape), shapes_.size() + 2);
    if (!added) return Number(it->second);
    Number(1);
    kept_.push_back(shape);
    ElementType type = shape.element_type();
    Archive(*this, type);
    if (shape.IsTuple() || shape.IsBuffer()) {
      const llvm::ArrayRef<Shape> parts = shape.IsBuffer() ? shape.buffer_shape() : shape.tuple_shapes();
      Number(parts.size());
      for (const Shape& part : parts) ShapeOf(part);
    } else if (shape.IsArray()) {
      Dims dims(shape.dims());
      llvm::SmallVector<bool, 4> dynamic(shape.dynamic_flags());
      std::optional<Layout> layout;
      if (shape.has_layout()) layout = shape.layout();
      ArchiveAll(*this, dims, dynamic, layout);
    }
  }

  void LiteralOf(const LiteralPtr& literal) {
    if (!literal) return Form(LiteralForm::Null);
    if (literals_ != nullptr && literals_->number_of) {
      if (const std::optional<uint64_t> number = literals_->number_of(literal)) {
        Form(LiteralForm::Numbered);
        return Number(*number);
      }
    }
    LiteralOf(*literal);
  }

  void Source(const SourceBuffer* source) {
    const auto sources = module_.sources();
    const auto* it = llvm::find_if(sources, [&](const SourcePtr& known) { return known.get() == source; });
    Number(source == nullptr || it == sources.end() ? 0 : static_cast<uint64_t>(it - sources.begin()) + 1);
  }

  void MetadataOf(const OpMetadata* metadata) {
    if (metadata == nullptr) return Number(0);
    const auto [it, added] = metadata_.try_emplace(metadata, metadata_.size() + 2);
    if (!added) return Number(it->second);
    Number(1);
    Archive(*this, const_cast<OpMetadata&>(*metadata));
  }

  void Module(const std::shared_ptr<hlo::Module>& module) { Text(module ? ToBinary(*module) : ""); }

 private:
  void Form(LiteralForm form) { Number(static_cast<uint64_t>(form)); }
  void LiteralOf(const Literal& literal) {
    if (!literal.valid()) return Form(LiteralForm::Null);
    if (literal.shape().IsTuple()) {
      Form(LiteralForm::Tuple);
      Number(literal.elements().size());
      for (const Literal& element : literal.elements()) LiteralOf(element);
      return;
    }
    const bool elided = literal.HasElided();
    Form(elided             ? LiteralForm::Elided
         : IsEmpty(literal) ? LiteralForm::Empty
         : literal.packed() ? LiteralForm::Packed
                            : LiteralForm::Array);
    ShapeOf(literal.shape());
    if (elided || IsEmpty(literal)) return;
    const Literal unpacked = literal.Unpack();
    Bytes(unpacked.data(), unpacked.byte_size());
    Number(literal.HasDynamicSizes() ? 1 : 0);
    for (int64_t d = 0; literal.HasDynamicSizes() && d < literal.shape().rank(); ++d)
      Number(static_cast<uint64_t>(literal.DynamicSize(d)));
  }

  const hlo::Module& module_;
  const BinaryLiterals* literals_;
  llvm::DenseMap<const void*, uint64_t> shapes_;
  std::vector<Shape> kept_;  // an object that goes could leave its place to another
  llvm::DenseMap<const OpMetadata*, uint64_t> metadata_;
};

class ModuleReader : public BinaryReader {
 public:
  /// `bytes` live as long as the module.
  ModuleReader(llvm::StringRef bytes, hlo::Module& module, llvm::ArrayRef<SourcePtr> sources,
               const BinaryLiterals* literals)
      : BinaryReader(bytes), module_(module), sources_(sources), literals_(literals) {}

  Shape ShapeOf(unsigned depth = 0) {
    const uint64_t number = Number(shapes_.size() + 2);
    if (number == 0) return {};
    if (number >= 2) return shapes_[number - 2];
    // Numbers are given before parts have theirs.
    const size_t place = shapes_.size();
    shapes_.emplace_back();
    Shape shape = NewShape(depth);
    shapes_[place] = shape;
    return shape;
  }

  LiteralPtr LiteralOf() {
    const auto form = FormOf();
    if (form == LiteralForm::Null) return nullptr;
    if (form != LiteralForm::Numbered) return std::make_shared<const Literal>(LiteralOf(form, 0));
    const uint64_t number = Number();
    LiteralPtr known =
        literals_ != nullptr && literals_->by_number ? literals_->by_number(number) : LiteralPtr();
    if (!known) Fail();
    return known;
  }

  const SourceBuffer* Source() {
    const uint64_t number = Number(sources_.size() + 1);
    return number == 0 ? nullptr : sources_[number - 1].get();
  }

  const OpMetadata* MetadataOf() {
    const uint64_t number = Number(metadata_.size() + 2);
    if (number == 0) return nullptr;
    if (number >= 2) return metadata_[number - 2];
    OpMetadata metadata;
    Archive(*this, metadata);
    return metadata_.emplace_back(module_.Save(metadata));
  }

  /// Valid until the next one: saving the metadata copies it.
  llvm::ArrayRef<int32_t> KeepList(llvm::SmallVector<int32_t, 4> list) { return list_ = std::move(list); }

  void Module(std::shared_ptr<hlo::Module>& module) {
    const llvm::StringRef bytes = Text();
    module = nullptr;
    if (bytes.empty()) return;
    module = FromBinary(bytes, {});
    if (!module) Fail();
  }

  hlo::Module& module() { return module_; }

 private:
  static constexpr unsigned kDepth = 64;  // of tuples

  Shape NewShape(unsigned depth) {
    ElementType type{};
    Archive(*this, type);
    if (type == ElementType::Token) return Shape::MakeToken();
    if (type == ElementType::Opaque) return Shape::MakeOpaque();
    if (type == ElementType::Tuple || type == ElementType::Buffer) {
      std::vector<Shape> parts;
      for (size_t left = Count(); left > 0 && !failed(); --left) {
        if (depth >= kDepth) Fail();
        parts.push_back(ShapeOf(depth + 1));
        if (!parts.back().valid()) Fail();
      }
      if (type == ElementType::Tuple) return failed() ? Shape() : Shape::MakeTuple(parts);
      if (parts.size() != 1) Fail();
      return failed() ? Shape() : Shape::MakeBuffer(parts[0]);
    }
    Dims dims;
    llvm::SmallVector<bool, 4> dynamic;
    std::optional<Layout> layout;
    ArchiveAll(*this, dims, dynamic, layout);
    if (!IsArrayType(type) || (!dynamic.empty() && dynamic.size() != dims.size()) ||
        llvm::any_of(dims, [](int64_t dim) { return dim < 0 && dim != kUnboundedSize; }))
      Fail();
    if (failed()) return {};
    Shape shape = Shape::Array(type, dims, dynamic);
    return layout ? shape.WithLayout(std::move(*layout)) : shape;
  }

  LiteralForm FormOf() { return static_cast<LiteralForm>(Number(kLiteralForms)); }

  Literal LiteralOf(LiteralForm form, unsigned depth) {
    if (form == LiteralForm::Tuple) {
      std::vector<Literal> elements;
      for (size_t left = Count(); left > 0 && !failed(); --left) {
        const LiteralForm part = FormOf();
        if (depth >= kDepth || part == LiteralForm::Null || part == LiteralForm::Numbered) Fail();
        if (!failed()) elements.push_back(LiteralOf(part, depth + 1));
      }
      return failed() ? Literal() : Literal::MakeTuple(std::move(elements));
    }
    const Shape shape = ShapeOf();
    const bool wants_array = form != LiteralForm::Empty;
    if (!shape.valid() || shape.IsTuple() || shape.IsArray() != wants_array) Fail();
    if (failed()) return {};
    if (form == LiteralForm::Elided) return Literal::Elided(shape);
    if (form == LiteralForm::Empty) return Literal::Make(shape);
    return ArrayOf(shape, form);
  }

  Literal ArrayOf(const Shape& shape, LiteralForm form) {
    const bool unbounded = llvm::is_contained(shape.dims(), kUnboundedSize);
    const int64_t size = unbounded ? -1 : ByteSize(shape);
    const char* data = size < 0 ? nullptr : Bytes(static_cast<uint64_t>(size));
    if (data == nullptr) Fail();
    if (failed()) return {};
    Literal literal = Literal::Make(shape);
    if (size > 0) std::memcpy(literal.MutableData(), data, static_cast<size_t>(size));
    if (Number(2) != 0)
      for (int64_t d = 0; d < shape.rank() && !failed(); ++d)
        literal.SetDynamicSize(d, static_cast<int64_t>(Number(static_cast<uint64_t>(shape.dim(d)) + 1)));
    return form == LiteralForm::Packed ? literal.Pack() : literal;
  }

  hlo::Module& module_;
  llvm::ArrayRef<SourcePtr> sources_;
  const BinaryLiterals* literals_;
  std::vector<Shape> shapes_;
  std::vector<const OpMetadata*> metadata_;
  llvm::SmallVector<int32_t, 4> list_;
};

template <class A>
void Archive(A& a, Shape& shape) {
  if constexpr (A::kReads)
    shape = a.ShapeOf();
  else
    a.ShapeOf(shape);
}
template <class A>
void Archive(A& a, LiteralPtr& literal) {
  if constexpr (A::kReads)
    literal = a.LiteralOf();
  else
    a.LiteralOf(literal);
}
template <class A>
void Archive(A& a, Loc& loc) {
  if constexpr (A::kReads) {
    loc.source = a.Source();
    loc.begin = static_cast<uint32_t>(a.Number());
    loc.end = static_cast<uint32_t>(a.Number());
  } else {
    a.Source(loc.source);
    a.Number(loc.begin);
    a.Number(loc.end);
  }
}

/// How a kind of attribute field is written and read.
struct FieldArchive {
  void (*write)(ModuleWriter&, void*);
  void (*read)(ModuleReader&, void*);
};
template <class T>
constexpr FieldArchive ArchiveOf() {
  return {[](ModuleWriter& a, void* value) { Archive(a, *static_cast<T*>(value)); },
          [](ModuleReader& a, void* value) { Archive(a, *static_cast<T*>(value)); }};
}
// One row per FieldKind, in its order; the two callee kinds have no member.
constexpr FieldArchive kFields[] = {
    ArchiveOf<bool>(),
    ArchiveOf<int64_t>(),
    ArchiveOf<std::optional<int64_t>>(),
    ArchiveOf<float>(),
    ArchiveOf<std::string>(),
    ArchiveOf<Dims>(),
    ArchiveOf<std::vector<Dims>>(),
    ArchiveOf<llvm::SmallVector<bool, 4>>(),
    ArchiveOf<FusionKind>(),
    ArchiveOf<std::optional<CompareType>>(),
    ArchiveOf<Precisions>(),
    ArchiveOf<Window>(),
    ArchiveOf<std::optional<Window>>(),
    ArchiveOf<std::optional<ConvDimLabels>>(),
    ArchiveOf<SliceRanges>(),
    ArchiveOf<Padding>(),
    ArchiveOf<ReplicaGroups>(),
    ArchiveOf<Shape>(),
    ArchiveOf<std::optional<ShapeList>>(),
    ArchiveOf<LiteralPtr>(),
    ArchiveOf<Aliasing>(),
    ArchiveOf<SparsityConfig>(),
    ArchiveOf<DomainSpec>(),
    ArchiveOf<std::optional<bool>>(),
};
static_assert(std::size(kFields) + 2 == kFieldKindCount);

void WriteAttrs(ModuleWriter& a, const Instruction& inst) {
  const AttrInfo& info = inst.attrs().info();
  void* data = const_cast<void*>(inst.attrs().data());
  uint64_t given = 0;  // bit set over the fields
  for (size_t i = 0; i < info.fields.size(); ++i)
    if (info.fields[i].access != nullptr && !FieldIsDefault(info, info.fields[i], data))
      given |= uint64_t{1} << i;
  a.Number(given);
  for (size_t i = 0; i < info.fields.size(); ++i)
    if ((given >> i & 1) != 0)
      kFields[static_cast<size_t>(info.fields[i].kind)].write(a, info.fields[i].access(data));
}

Attrs ReadAttrs(ModuleReader& a, OpKind kind) {
  const AttrInfo& info = *Info(kind).attrs;
  Attrs attrs = Attrs::Default(info);
  const uint64_t given = a.Number();
  if (info.fields.size() < 64 && given >> info.fields.size() != 0) a.Fail();
  for (size_t i = 0; i < info.fields.size() && !a.failed(); ++i) {
    if ((given >> i & 1) == 0) continue;
    const FieldInfo& field = info.fields[i];
    if (field.access == nullptr) {
      a.Fail();
      break;
    }
    kFields[static_cast<size_t>(field.kind)].read(a, field.access(attrs.mutable_data()));
    if (field.kind == FieldKind::Enum && field.Get<uint8_t>(attrs.data()) >= field.enum_info->words.size())
      a.Fail();
  }
  return attrs;
}

/// Extras less the control edges.
template <class A>
void ArchiveExtras(A& a, InstructionExtras& v) {
  ArchiveAll(a, v.sharding, v.frontend_attributes, v.statistics, v.result_accuracy, v.origin,
             v.backend_config, v.unknown_attributes);
}

using Numbers = llvm::DenseMap<const Instruction*, uint64_t>;

void WriteInstruction(ModuleWriter& a, const Instruction& inst,
                      const llvm::DenseMap<const Computation*, uint64_t>& computations) {
  a.Number(static_cast<uint64_t>(inst.kind()));
  a.ShapeOf(inst.shape());
  a.Text(inst.name());
  a.Number(inst.callees().size());
  for (const Computation* callee : inst.callees()) a.Number(computations.lookup(callee));
  WriteAttrs(a, inst);
  a.MetadataOf(inst.metadata());
  Loc loc = inst.loc();
  Archive(a, loc);
  a.Number(inst.has_extras() ? 1 : 0);
  if (inst.has_extras()) ArchiveExtras(a, const_cast<InstructionExtras&>(inst.extras()));
}

void WriteList(ModuleWriter& a, llvm::ArrayRef<Instruction*> list, const Numbers& numbers) {
  a.Number(list.size());
  for (const Instruction* inst : list) a.Number(numbers.lookup(inst));
}

void WriteComputation(ModuleWriter& a, const Computation& computation,
                      const llvm::DenseMap<const Computation*, uint64_t>& computations) {
  Numbers numbers;
  for (const Instruction* inst : computation.instructions()) numbers.try_emplace(inst, numbers.size());
  a.Number(numbers.size());
  for (const Instruction* inst : computation.instructions()) WriteInstruction(a, *inst, computations);
  // List order need not put operands before users.
  for (const Instruction* inst : computation.instructions()) {
    WriteList(a, inst->operands(), numbers);
    WriteList(a, inst->extras().control_predecessors, numbers);
  }
  a.Number(computation.root() == nullptr ? 0 : numbers.lookup(computation.root()) + 1);
  WriteList(a, computation.schedule(), numbers);
  a.Text(computation.execution_thread());
  Loc loc = computation.loc();
  Archive(a, loc);
}

/// Null after failure.
Instruction* ReadInstruction(ModuleReader& a, Computation& to) {
  const auto kind = static_cast<OpKind>(a.Number(AllOps().size()));
  const Shape shape = a.ShapeOf();
  const llvm::StringRef name = a.Text();
  llvm::SmallVector<Computation*, 2> callees;
  const auto computations = a.module().computations();
  for (size_t left = a.Count(); left > 0 && !a.failed(); --left)
    if (const uint64_t number = a.Number(computations.size()); !a.failed())
      callees.push_back(computations[number].get());
  Attrs attrs = ReadAttrs(a, kind);
  if (kind == OpKind::Parameter && !a.failed()) {
    constexpr int64_t kMostParameters = 1 << 20;
    const int64_t number = attrs.Get<ParameterAttrs>().number;
    const auto taken = to.parameters();
    if (number < 0 || number >= kMostParameters ||
        (number < static_cast<int64_t>(taken.size()) && taken[static_cast<size_t>(number)] != nullptr))
      a.Fail();
  }
  const OpMetadata* metadata = a.MetadataOf();
  Loc loc;
  Archive(a, loc);
  const bool has_extras = a.Number(2) != 0;
  if (a.failed()) return nullptr;
  a.module().UniqueInstructionName(name);  // is taken now
  Instruction* inst = to.Add(kind, shape, name, {}, std::move(attrs), callees);
  inst->set_metadata(metadata);
  inst->set_loc(loc);
  if (has_extras) ArchiveExtras(a, inst->MutableExtras());
  return inst;
}

std::vector<Instruction*> ReadList(ModuleReader& a, llvm::ArrayRef<Instruction*> all) {
  std::vector<Instruction*> list;
  for (size_t left = a.Count(); left > 0 && !a.failed(); --left)
    if (const uint64_t number = a.Number(all.size()); !a.failed()) list.push_back(all[number]);
  return list;
}

void ReadComputation(ModuleReader& a, Computation& to) {
  std::vector<Instruction*> all;
  for (size_t left = a.Count(); left > 0 && !a.failed(); --left)
    if (Instruction* inst = ReadInstruction(a, to)) all.push_back(inst);
  if (llvm::is_contained(to.parameters(), nullptr)) a.Fail();
  for (Instruction* inst : all) {
    inst->SetOperands(ReadList(a, all));
    for (Instruction* before : ReadList(a, all)) inst->AddControlPredecessor(before);
  }
  if (const uint64_t root = a.Number(all.size() + 1); root > 0) to.set_root(all[root - 1]);
  to.set_schedule(ReadList(a, all));
  to.set_execution_thread(a.Text());
  Loc loc;
  Archive(a, loc);
  to.set_loc(loc);
}

}  // namespace

std::string ToBinary(const Module& module, const BinaryLiterals* literals) {
  ModuleWriter a(module, literals);
  a.Text(module.name());
  llvm::DenseMap<const Computation*, uint64_t> numbers;
  a.Number(module.computations().size());
  for (const auto& computation : module.computations()) {
    numbers.try_emplace(computation.get(), numbers.size());
    a.Text(computation->name());
  }
  for (const auto& computation : module.computations()) WriteComputation(a, *computation, numbers);
  a.Number(module.entry() == nullptr ? 0 : numbers.lookup(module.entry()) + 1);
  ArchiveAll(a, const_cast<ModuleConfig&>(module.config), const_cast<StackTables&>(module.stack_tables));
  return std::move(a).Take();
}

std::unique_ptr<Module> FromBinary(llvm::StringRef bytes, llvm::ArrayRef<SourcePtr> sources,
                                   const BinaryLiterals* literals) {
  auto module = std::make_unique<Module>("");
  for (const SourcePtr& source : sources) module->KeepSource(source);
  ModuleReader a(module->Save(bytes), *module, sources, literals);
  module->set_name(a.Text());
  for (size_t left = a.Count(); left > 0 && !a.failed(); --left)
    module->UniqueComputationName(module->AddComputation(a.Text())->name());
  for (const auto& computation : module->computations())
    if (!a.failed()) ReadComputation(a, *computation);
  if (const uint64_t entry = a.Number(module->computations().size() + 1); entry > 0)
    module->set_entry(module->computations()[entry - 1].get());
  ArchiveAll(a, module->config, module->stack_tables);
  return a.failed() || !a.at_end() ? nullptr : std::move(module);
}

}  // namespace hlo
