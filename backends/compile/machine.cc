#include "backends/compile/machine.h"

#include "passes/rewrite/context.h"

namespace hlo::compile {
namespace {

using Maker = const Machine& (*)();

Maker& OfBackend() {
  static Maker machine = nullptr;
  return machine;
}

}  // namespace

int64_t Machine::OperationsPerByte(int64_t bytes) const {
  for (const Level& level : memory)
    if (bytes <= level.bytes) return level.operations_per_byte;
  return memory.back().operations_per_byte;
}

MachineRegistration::MachineRegistration(Maker machine) { OfBackend() = machine; }

const Machine& MachineOf(const PassContext& context) {
  const Machine* machine = context.controls().machine;
  return machine != nullptr ? *machine : OfBackend()();
}

}  // namespace hlo::compile
