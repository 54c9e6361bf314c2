// hlo/hlo_c.h: errors, texts, modules, arrays.
#include "tools/library/c_api.h"

using namespace hlo_toolkit;            // NOLINT(google-build-using-namespace): functions of C
using namespace hlo_toolkit::internal;  // NOLINT(google-build-using-namespace): functions of C

namespace hlo_toolkit::internal {

static_assert(static_cast<int>(StatusCode::kInvalidArgument) == HLO_INVALID_ARGUMENT &&
              static_cast<int>(StatusCode::kUnimplemented) == HLO_UNIMPLEMENTED &&
              static_cast<int>(StatusCode::kFailedPrecondition) == HLO_FAILED_PRECONDITION &&
              static_cast<int>(StatusCode::kInternal) == HLO_INTERNAL &&
              static_cast<int>(StatusCode::kCancelled) == HLO_CANCELLED &&
              static_cast<int>(StatusCode::kDeadlineExceeded) == HLO_DEADLINE_EXCEEDED &&
              static_cast<int>(StatusCode::kResourceExhausted) == HLO_RESOURCE_EXHAUSTED &&
              static_cast<int>(StatusCode::kAborted) == HLO_ABORTED &&
              static_cast<int>(StatusCode::kUnavailable) == HLO_UNAVAILABLE);

HloError* NewText(std::string text, HloText** made) {
  if (made == nullptr) return BadCall("there is no place for the text");
  *made = new HloText{std::move(text)};
  return nullptr;
}

HloError* NewModule(XlaComputation computation, HloModule** made) {
  if (made == nullptr) return BadCall("there is no place for the module");
  std::string name = computation.name();
  *made = new HloModule{std::move(computation), std::move(name)};
  return nullptr;
}

HloError* ShapeOf(const HloArray& array, const char* what, Shape& shape) {
  const auto type = static_cast<PrimitiveType>(array.type);
  if (!IsArrayType(type)) return BadCall("{0} has no element type number {1}", what, array.type);
  if (array.rank < 0 || array.rank > HLO_MAX_RANK)
    return BadCall("{0} has {1} dimensions, at most {2} are possible", what, array.rank, HLO_MAX_RANK + 0);
  shape = Shape(type, Span<const int64_t>(array.dimensions, static_cast<size_t>(array.rank)));
  if (const Status valid = ShapeUtil::Validate(shape); !valid.ok())
    return BadCall("{0}: {1}", what, valid.message());
  return nullptr;
}

HloArray ToArray(const Shape& shape) {
  HloArray array{};
  array.struct_size = sizeof(HloArray);
  array.type = shape.element_type();
  array.rank = static_cast<int32_t>(shape.rank());
  for (int32_t d = 0; d < array.rank && d < HLO_MAX_RANK; ++d) array.dimensions[d] = shape.dimensions(d);
  array.bytes = static_cast<size_t>(ShapeUtil::ByteSizeOf(shape));
  return array;
}

HloError* LiteralOf(const HloArray* array, const char* what, Literal& literal) {
  if (array == nullptr) return BadCall("{0} is null", what);
  HloArray read;
  if (HloError* error = ReadStruct(array, "the fields of an array", read)) return error;
  Shape shape;
  if (HloError* error = ShapeOf(read, what, shape)) return error;
  const auto needed = static_cast<size_t>(ShapeUtil::ByteSizeOf(shape));
  if (read.bytes < needed)
    return BadCall("{0} is {1} of {2} bytes, but has {3}", what, shape.ToString(), needed, read.bytes);
  literal = Literal::Borrow(shape, read.data, nullptr);
  return literal.valid() ? nullptr : BadCall("{0} has no memory", what);
}

}  // namespace hlo_toolkit::internal

extern "C" {

int32_t hlo_c_version(void) { return HLO_C_VERSION; }

HloCode hlo_error_code(const HloError* error) {
  return error == nullptr ? HLO_OK : static_cast<HloCode>(error->status.code());
}
const char* hlo_error_message(const HloError* error) {
  return error == nullptr ? "" : error->status.message().c_str();
}
void hlo_error_free(HloError* error) { delete error; }

const char* hlo_text_data(const HloText* text) { return text == nullptr ? "" : text->text.c_str(); }
size_t hlo_text_size(const HloText* text) { return text == nullptr ? 0 : text->text.size(); }
void hlo_text_free(HloText* text) { delete text; }

HloError* hlo_module_parse(const char* text, size_t size, const char* name, HloModule** module) {
  if (module != nullptr) *module = nullptr;
  return Guarded([&]() -> HloError* {
    if (text == nullptr) return BadCall("the text is null");
    auto parsed = XlaComputation::FromText({text, size}, name == nullptr ? "<text>" : name);
    if (!parsed.ok()) return ToError(parsed.status());
    return NewModule(std::move(*parsed), module);
  });
}

HloError* hlo_module_read(const char* bytes, size_t size, const char* name, HloModule** module) {
  if (module != nullptr) *module = nullptr;
  return Guarded([&]() -> HloError* {
    if (bytes == nullptr) return BadCall("the bytes are null");
    auto read = XlaComputation::FromBytes({bytes, size}, name == nullptr ? "<bytes>" : name);
    if (!read.ok()) return ToError(read.status());
    return NewModule(std::move(*read), module);
  });
}

HloError* hlo_module_proto(const HloModule* module, HloText** bytes) {
  if (bytes != nullptr) *bytes = nullptr;
  return Guarded([&]() -> HloError* {
    if (module == nullptr) return BadCall("the module is null");
    auto made = module->computation.ToProto();
    if (!made.ok()) return ToError(made.status());
    return NewText(std::move(*made), bytes);
  });
}

HloError* hlo_module_print(const HloModule* module, HloText** text) {
  if (text != nullptr) *text = nullptr;
  return Guarded([&]() -> HloError* {
    if (module == nullptr) return BadCall("the module is null");
    return NewText(module->computation.ToString(), text);
  });
}

HloError* hlo_module_verify(const HloModule* module) {
  return Guarded([&]() -> HloError* {
    if (module == nullptr) return BadCall("the module is null");
    return ToError(module->computation.Verify());
  });
}

const char* hlo_module_name(const HloModule* module) { return module == nullptr ? "" : module->name.c_str(); }
void hlo_module_free(HloModule* module) { delete module; }

HloError* hlo_module_run_passes(const HloModule* module, const char* pipeline, const HloPassOptions* options,
                                HloModule** result) {
  if (result != nullptr) *result = nullptr;
  return Guarded([&]() -> HloError* {
    if (module == nullptr || pipeline == nullptr) return BadCall("the module or the pipeline is null");
    HloPassOptions read;
    if (HloError* error = ReadStruct(options, "the options", read)) return error;
    PassOptions passes;
    passes.verify_each = read.verify_each != 0;
    if (read.after_pass != nullptr)
      passes.after_pass = [&](const PassEvent& event) {
        const HloPassEvent told = {
            sizeof(HloPassEvent),  event.pass.c_str(), event.pipeline.c_str(),    event.number,
            event.changed ? 1 : 0, event.rewrites,     event.instructions_before, event.instructions_after,
            event.time.count()};
        return read.after_pass(read.user, &told) != 0;
      };
    auto made = RunPasses(module->computation, pipeline, passes);
    if (!made.ok()) return ToError(made.status());
    return NewModule(std::move(*made), result);
  });
}

HloError* hlo_module_draw(const HloModule* module, const char* format, HloText** picture) {
  if (picture != nullptr) *picture = nullptr;
  return Guarded([&]() -> HloError* {
    if (module == nullptr || format == nullptr) return BadCall("the module or the format is null");
    auto drawn = Draw(module->computation, format);
    if (!drawn.ok()) return ToError(drawn.status());
    return NewText(std::move(*drawn), picture);
  });
}

HloError* hlo_module_diff(const HloModule* left, const HloModule* right, const char* format, HloDiff* diff,
                          HloText** report) {
  if (report != nullptr) *report = nullptr;
  return Guarded([&]() -> HloError* {
    if (left == nullptr || right == nullptr) return BadCall("a module is null");
    auto found = Diff(left->computation, right->computation, format == nullptr ? "text" : format);
    if (!found.ok()) return ToError(found.status());
    const HloDiff made = {sizeof(HloDiff), found->equal ? 1 : 0, found->unchanged, found->moved,
                          found->changed,  found->removed,       found->added};
    if (HloError* error = diff == nullptr ? nullptr : WriteStruct(made, "the results", diff)) return error;
    return report == nullptr ? nullptr : NewText(std::move(found->report), report);
  });
}

int32_t hlo_type_number(const char* name) {
  return name == nullptr ? 0 : static_cast<int32_t>(PrimitiveTypeFromName(name));
}

int64_t hlo_array_bytes(const HloArray* array) {
  int64_t bytes = -1;
  hlo_error_free(Guarded([&]() -> HloError* {
    if (array == nullptr) return BadCall("the array is null");
    HloArray read;
    Shape shape;
    if (HloError* error = ReadStruct(array, "the fields of an array", read)) return error;
    if (HloError* error = ShapeOf(read, "the array", shape)) return error;
    bytes = ShapeUtil::ByteSizeOf(shape);
    return nullptr;
  }));
  return bytes;
}

HloError* hlo_array_compare(const HloArray* actual, const HloArray* expected, double abs, double rel,
                            HloComparison* comparison) {
  return Guarded([&]() -> HloError* {
    Literal a, b;
    if (HloError* error = LiteralOf(actual, "the first array", a)) return error;
    if (HloError* error = LiteralOf(expected, "the second array", b)) return error;
    const auto found = Compare(a, b, {abs, rel});
    if (!found.ok()) return ToError(found.status());
    const HloComparison made = {sizeof(HloComparison), found->matched ? 1 : 0, found->elements,
                                found->mismatches,     found->max_abs,         found->max_rel};
    return WriteStruct(made, "the results", comparison);
  });
}

}  // extern "C"
