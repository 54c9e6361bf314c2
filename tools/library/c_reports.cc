// hlo/hlo_c.h: what programs cost.
#include "tools/library/c_program.h"

using namespace hlo_toolkit;            // NOLINT(google-build-using-namespace): functions of C
using namespace hlo_toolkit::internal;  // NOLINT(google-build-using-namespace): functions of C

namespace {

/// A report in the form that is asked for: text, json.
template <class Report>
HloError* GiveReport(const Report& report, const char* format, HloText** text) {
  const std::string_view form = format == nullptr ? "text" : format;
  if (form == "text") return Give(report.ToText(), text);
  if (form == "json") return Give(report.ToJson(), text);
  return BadCall("there is no format '{0}' of reports; there are text and json", format);
}

/// The arguments of a program of one device as values of their own.
HloError* TakeLiterals(const CExecutable& program, const HloArray* arguments, size_t count,
                       std::vector<Literal>& literals) {
  if (program.executable.device_count() != 1)
    return BadCall("the program has {0} devices", program.executable.device_count());
  const size_t taken = program.arrays->arguments.size();
  if (HloError* error = CheckCount("arguments", arguments, count, taken, "takes")) return error;
  size_t next = 0;
  std::vector<hlo::Literal> values;
  for (const hlo::Shape& parameter : program.state().parameters)
    if (HloError* error = TakeValue(arguments, next, parameter, values)) return error;
  for (const hlo::Literal& value : values) literals.push_back(LiteralAccess::Make(value));
  return nullptr;
}

}  // namespace

extern "C" {

HloError* hlo_executable_memory(const HloExecutable* executable, HloMemory* memory, const char* format,
                                HloText** report) {
  if (report != nullptr) *report = nullptr;
  return Guarded([&]() -> HloError* {
    if (HloError* error = CheckHandles(executable)) return error;
    const std::optional<MemoryReport> plan = executable->get().executable.memory();
    if (!plan) return NewError({StatusCode::kUnimplemented, "the platform plans no memory"});
    const HloMemory made = {sizeof(HloMemory), plan->arguments, plan->results, plan->temporaries,
                            plan->constants,   plan->aliased,   plan->peak()};
    if (HloError* error = memory == nullptr ? nullptr : WriteStruct(made, "the bytes", memory)) return error;
    return report == nullptr ? nullptr : GiveReport(*plan, format, report);
  });
}

HloError* hlo_executable_profile(const HloExecutable* executable, const HloArray* arguments,
                                 size_t arguments_count, int64_t runs, const char* format, HloText** report) {
  return GuardedMaking(report, [&]() -> HloError* {
    if (HloError* error = CheckHandles(executable)) return error;
    if (runs < 1 || runs > INT32_MAX) return BadCall("{0} runs to profile", runs);
    std::vector<Literal> literals;
    if (HloError* error = TakeLiterals(executable->get(), arguments, arguments_count, literals)) return error;
    const auto profile = executable->get().executable.Profile(literals, static_cast<int>(runs));
    if (!profile.ok()) return ToError(profile.status());
    return GiveReport(*profile, format, report);
  });
}

HloError* hlo_executable_text(const HloExecutable* executable, HloText** text) {
  return GuardedMaking(text, [&]() -> HloError* {
    if (HloError* error = CheckHandles(executable)) return error;
    return Give(executable->get().executable.OptimizedText(), text);
  });
}

}  // extern "C"
