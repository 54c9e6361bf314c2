#include "backends/processes/wire.h"

namespace hlo::processes {
namespace {

constexpr unsigned kDepth = 64;  // of tuples

void Write(BinaryWriter& writer, const Shape& shape) {
  writer.Number(static_cast<uint64_t>(shape.element_type()));
  if (shape.IsTuple() || shape.IsBuffer()) {
    const llvm::ArrayRef<Shape> parts = shape.IsBuffer() ? shape.buffer_shape() : shape.tuple_shapes();
    writer.Number(parts.size());
    for (const Shape& part : parts) Write(writer, part);
  } else if (shape.IsArray()) {
    Dims dims(shape.dims());
    llvm::SmallVector<bool, 4> dynamic(shape.dynamic_flags());
    ArchiveAll(writer, dims, dynamic);
  }
}

Shape Read(BinaryReader& reader, unsigned depth) {
  ElementType type{};
  Archive(reader, type);
  if (type == ElementType::Token) return Shape::MakeToken();
  if (type == ElementType::Opaque) return Shape::MakeOpaque();
  if (type == ElementType::Tuple || type == ElementType::Buffer) {
    std::vector<Shape> parts;
    for (size_t left = reader.Count(); left > 0 && !reader.failed(); --left) {
      if (depth == kDepth) reader.Fail();
      parts.push_back(reader.failed() ? Shape() : Read(reader, depth + 1));
    }
    if (type == ElementType::Buffer && parts.size() != 1) reader.Fail();
    if (reader.failed()) return {};
    return type == ElementType::Tuple ? Shape::MakeTuple(parts) : Shape::MakeBuffer(parts[0]);
  }
  Dims dims;
  llvm::SmallVector<bool, 4> dynamic;
  ArchiveAll(reader, dims, dynamic);
  if (!IsArrayType(type) || (!dynamic.empty() && dynamic.size() != dims.size())) reader.Fail();
  return reader.failed() ? Shape() : Shape::ArrayWithDefaultLayout(type, dims, dynamic);
}

}  // namespace

void ArchiveShape(BinaryWriter& writer, const Shape& shape) { Write(writer, shape); }
void ArchiveShape(BinaryReader& reader, Shape& shape) { shape = Read(reader, 0); }

WireLoc ToWire(const Loc& loc) {
  if (!loc.valid()) return {};
  return {loc.source->name().str(), loc.begin, loc.end};
}

Loc FromWire(const WireLoc& loc, llvm::ArrayRef<SourcePtr> sources) {
  for (const SourcePtr& source : sources)
    if (source->name() == loc.source && loc.begin <= loc.end && loc.end <= source->text().size())
      return {source.get(), static_cast<uint32_t>(loc.begin), static_cast<uint32_t>(loc.end)};
  return {};
}

WireDiagnostic ToWire(const Diagnostic& diagnostic) {
  WireDiagnostic wire{diagnostic.id.str(), diagnostic.message,     diagnostic.file,
                      diagnostic.context,  ToWire(diagnostic.loc), {}};
  // Nothing else has none.
  if (wire.id.empty()) wire.id = "internal-error";
  for (const Diagnostic& note : diagnostic.notes) wire.notes.emplace_back(ToWire(note.loc), note.message);
  return wire;
}

Diagnostic FromWire(const WireDiagnostic& wire, llvm::ArrayRef<SourcePtr> sources) {
  Diagnostic diagnostic = MakeError({}, FromWire(wire.loc, sources), "{0}", wire.message);
  const auto id = DiagnosticId::Find(wire.id);
  diagnostic.id = id ? *id : DiagnosticId("internal-error");
  diagnostic.file = wire.file;
  diagnostic.context = wire.context;
  for (const auto& [loc, text] : wire.notes) diagnostic.Note(FromWire(loc, sources), text);
  return diagnostic;
}

}  // namespace hlo::processes
