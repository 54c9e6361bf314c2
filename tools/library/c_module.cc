// hlo/hlo_c.h: errors, texts, modules, arrays.
#include "tools/library/c_api.h"
#include "tools/library/convert.h"

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

namespace {

/// What stands for errors that there is no memory for; it is never freed.
HloError* NoMemory() {
  static HloError* const error = Handles<HloError>::New({StatusCode::kResourceExhausted, "out of memory"});
  return error;
}

const char* NameOf(HandleKind kind) {
  static constexpr const char* kNames[] = {"error",  "text",       "module", "builder",
                                           "client", "executable", "buffer", "run"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace

HloError* NewError(Status status) noexcept {
  HloError* const reserve = NoMemory();
  HloError* const made = Handles<HloError>::New(std::move(status));
  return made != nullptr ? made : reserve;
}

HloError* NoPlace(HandleKind kind) { return BadCall("there is no place for the {0}", NameOf(kind)); }

HloError* WrongHandle(HandleKind kind, bool null, bool freed) {
  const char* const name = NameOf(kind);
  if (null) return BadCall("the {0} is null", name);
  if (!freed) return BadCall("the {0} is a handle of another kind", name);
  return NewError({StatusCode::kFailedPrecondition, llvm::formatv("the {0} was freed before", name).str()});
}

HloError* NewModule(XlaComputation computation, HloModule** made) {
  std::string name = computation.name();
  return Give(NamedModule{std::move(computation), std::move(name)}, made);
}

HloError* ShapeOf(const HloArray& array, const char* what, Shape& shape) {
  const auto type = static_cast<PrimitiveType>(array.type);
  if (!IsArrayType(type)) return BadCall("{0} has no element type number {1}", what, array.type);
  if (array.rank < 0 || array.rank > HLO_MAX_RANK)
    return BadCall("{0} has {1} dimensions, at most {2} are possible", what, array.rank, HLO_MAX_RANK + 0);
  const auto rank = static_cast<size_t>(array.rank);
  shape = array.minor_to_major == nullptr
              ? Shape(type, Span<const int64_t>(array.dimensions, rank))
              : ShapeUtil::MakeShapeWithLayout(type, {array.dimensions, rank}, {array.minor_to_major, rank});
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
  if (!literal.valid()) return BadCall("{0} has no memory", what);
  // Where its elements were in memory says nothing about it.
  const hlo::Literal& value = *LiteralAccess::Get(literal);
  if (read.minor_to_major != nullptr)
    literal = LiteralAccess::Make(value.WithShape(value.shape().WithDefaultLayouts()));
  return nullptr;
}

}  // namespace hlo_toolkit::internal

extern "C" {

int32_t hlo_c_version(void) { return HLO_C_VERSION; }

HloCode hlo_error_code(const HloError* error) {
  if (error == nullptr) return HLO_OK;
  return error->IsOpen() ? static_cast<HloCode>(error->get().code()) : HLO_FAILED_PRECONDITION;
}
const char* hlo_error_message(const HloError* error) {
  if (error == nullptr) return "";
  return error->IsOpen() ? error->get().message().c_str() : "the error was freed before";
}
void hlo_error_free(HloError* error) {
  if (error != NoMemory()) Handles<HloError>::Free(error);
}

const char* hlo_text_data(const HloText* text) {
  return text == nullptr || !text->IsOpen() ? "" : text->get().c_str();
}
size_t hlo_text_size(const HloText* text) {
  return text == nullptr || !text->IsOpen() ? 0 : text->get().size();
}
void hlo_text_free(HloText* text) { Handles<HloText>::Free(text); }

HloError* hlo_module_parse(const char* text, size_t size, const char* name, HloModule** module) {
  return GuardedMaking(module, [&]() -> HloError* {
    if (text == nullptr) return BadCall("the text is null");
    auto parsed = XlaComputation::FromText({text, size}, name == nullptr ? "<text>" : name);
    if (!parsed.ok()) return ToError(parsed.status());
    return NewModule(std::move(*parsed), module);
  });
}

HloError* hlo_module_read(const char* bytes, size_t size, const char* name, HloModule** module) {
  return GuardedMaking(module, [&]() -> HloError* {
    if (bytes == nullptr) return BadCall("the bytes are null");
    auto read = XlaComputation::FromBytes({bytes, size}, name == nullptr ? "<bytes>" : name);
    if (!read.ok()) return ToError(read.status());
    return NewModule(std::move(*read), module);
  });
}

HloError* hlo_module_proto(const HloModule* module, HloText** bytes) {
  return GuardedMaking(bytes, [&]() -> HloError* {
    if (HloError* error = CheckHandles(module)) return error;
    auto made = module->get().computation.ToProto();
    if (!made.ok()) return ToError(made.status());
    return Give(std::move(*made), bytes);
  });
}

HloError* hlo_module_print(const HloModule* module, HloText** text) {
  return GuardedMaking(text, [&]() -> HloError* {
    if (HloError* error = CheckHandles(module)) return error;
    return Give(module->get().computation.ToString(), text);
  });
}

HloError* hlo_module_verify(const HloModule* module) {
  return Guarded([&]() -> HloError* {
    if (HloError* error = CheckHandles(module)) return error;
    return ToError(module->get().computation.Verify());
  });
}

const char* hlo_module_name(const HloModule* module) {
  return module == nullptr || !module->IsOpen() ? "" : module->get().name.c_str();
}
void hlo_module_free(HloModule* module) { Handles<HloModule>::Free(module); }

HloError* hlo_module_run_passes(const HloModule* module, const char* pipeline, const HloPassOptions* options,
                                HloModule** result) {
  return GuardedMaking(result, [&]() -> HloError* {
    if (HloError* error = CheckHandles(module)) return error;
    if (pipeline == nullptr) return BadCall("the pipeline is null");
    HloPassOptions read;
    if (HloError* error = ReadStruct(options, "the options", read)) return error;
    PassOptions passes;
    if (HloError* error = ReadFlag(read.verify_each, "verify_each", passes.verify_each)) return error;
    if (read.after_pass != nullptr)
      passes.after_pass = [&](const PassEvent& event) {
        const HloPassEvent told = {
            sizeof(HloPassEvent),  event.pass.c_str(), event.pipeline.c_str(),    event.number,
            event.changed ? 1 : 0, event.rewrites,     event.instructions_before, event.instructions_after,
            event.time.count()};
        return read.after_pass(read.user, &told) != 0;
      };
    auto made = RunPasses(module->get().computation, pipeline, passes);
    if (!made.ok()) return ToError(made.status());
    return NewModule(std::move(*made), result);
  });
}

HloError* hlo_module_draw(const HloModule* module, const char* format, HloText** picture) {
  return GuardedMaking(picture, [&]() -> HloError* {
    if (HloError* error = CheckHandles(module)) return error;
    if (format == nullptr) return BadCall("the format is null");
    auto drawn = Draw(module->get().computation, format);
    if (!drawn.ok()) return ToError(drawn.status());
    return Give(std::move(*drawn), picture);
  });
}

HloError* hlo_module_diff(const HloModule* left, const HloModule* right, const char* format, HloDiff* diff,
                          HloText** report) {
  return GuardedMaking(report, [&]() -> HloError* {
    if (HloError* error = CheckHandles(left, right)) return error;
    auto found = Diff(left->get().computation, right->get().computation, format == nullptr ? "text" : format);
    if (!found.ok()) return ToError(found.status());
    const HloDiff made = {sizeof(HloDiff), found->equal ? 1 : 0, found->unchanged, found->moved,
                          found->changed,  found->removed,       found->added};
    if (HloError* error = diff == nullptr ? nullptr : WriteStruct(made, "the results", diff)) return error;
    return report == nullptr ? nullptr : Give(std::move(found->report), report);
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
