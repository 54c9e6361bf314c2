#include "tools/library/test_computation.h"

#include "backends/interpreter/interpreter.h"
#include "ir/print.h"
#include "tools/library/convert.h"

namespace hlo_toolkit {

std::string Message(const Status& status) {
  const std::string& text = status.message();
  const size_t place = text.find(".cc:"), end = place == std::string::npos ? place : text.find(": ", place);
  return end == std::string::npos ? text : text.substr(end + 2);
}

std::string Text(const XlaComputation& computation) {
  hlo::PrintOptions options;
  options.percent = false;
  options.metadata = false;
  options.layouts = false;
  options.max_constant_elements = -1;
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const hlo::Instruction* i :
       internal::ComputationAccess::Module(computation)->entry()->instructions()) {
    if (i->IsRoot()) os << "ROOT ";
    hlo::Print(os, *i, options);
    os << "\n";
  }
  return text;
}

std::string Text(XlaBuilder& builder) {
  const StatusOr<XlaComputation> made = builder.Build();
  return made.ok() ? Text(*made) : Message(made.status());
}

std::string Value(const XlaComputation& computation, const std::vector<Literal>& arguments,
                  int64_t replicas) {
  std::vector<hlo::Literal> values;
  for (const Literal& argument : arguments) values.push_back(*internal::LiteralAccess::Get(argument));
  hlo::ExecutionOptions options;
  options.replica_count = replicas;
  const std::vector all(static_cast<size_t>(replicas), values);
  auto run = hlo::RunModule(*internal::ComputationAccess::Module(computation), all, options);
  if (!run) return run.error().message;
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const hlo::Literal& result : run->results) {
    if (!text.empty()) os << "\n";
    hlo::PrintLiteral(os, result);
  }
  return text;
}

std::string Value(XlaBuilder& builder, const std::vector<Literal>& arguments, int64_t replicas) {
  const StatusOr<XlaComputation> made = builder.Build();
  return made.ok() ? Value(*made, arguments, replicas) : Message(made.status());
}

}  // namespace hlo_toolkit
