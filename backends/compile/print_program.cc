// The grammar: backends/compile/README.md.
#include "backends/compile/program_text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo::compile {
namespace {

void Print(llvm::raw_ostream& os, const Slice& s) {
  if (s.buffer >= 0)
    os << s.buffer << '[' << s.offset << ':' << s.offset + s.size << ']';
  else
    os << '-';
  if (s.sizes >= 0) os << '#' << s.sizes;
}

/// `values` in parentheses.
template <class Values, class F>
void List(llvm::raw_ostream& os, const Values& values, F&& print) {
  os << '(';
  llvm::interleaveComma(values, os, print);
  os << ')';
}

void Print(llvm::raw_ostream& os, const Value& value) {
  List(os, value.leaves, [&](const Leaf& leaf) {
    Print(os, leaf.slice);
    os << (leaf.aligned ? "*" : "") << (leaf.written ? "" : "=");
  });
}

void PrintPairs(llvm::raw_ostream& os, llvm::ArrayRef<std::pair<Slice, Slice>> pairs) {
  List(os, pairs, [&](const std::pair<Slice, Slice>& pair) {
    Print(os, pair.first);
    os << " to ";
    Print(os, pair.second);
  });
}

void PrintQuoted(llvm::raw_ostream& os, llvm::StringRef text) {
  os << '"';
  llvm::printEscapedString(text, os);
  os << '"';
}

void PrintIndex(llvm::raw_ostream& os, llvm::ArrayRef<int64_t> index) {
  os << '{';
  llvm::interleave(index, os, ",");
  os << '}';
}

class Printer {
 public:
  Printer(llvm::raw_ostream& os, const Program& program) : os_(os), program_(program) {
    for (const auto& computation : program.module->computations())
      for (const Instruction* inst : computation->instructions()) ++uses_[inst->name()];
  }

  void Run(llvm::ArrayRef<KernelText> kernels) {
    os_ << "HloProgram " << program_.module->name() << ", version=" << kProgramVersion << "\n\nbuffers {\n";
    for (size_t i = 0; i < program_.buffers.size(); ++i) Print(i, program_.buffers[i]);
    os_ << "}\narena " << program_.arena_bytes << "\nsizes " << program_.sizes_count << "\narguments ";
    for (const Value& value : program_.parameters) compile::Print(os_, value);
    os_ << "\nresult ";
    compile::Print(os_, program_.result);
    os_ << "\n\nkernels {\n";
    for (size_t i = 0; i < kernels.size(); ++i) {
      os_ << i << " = " << (kernels[i].interpreted ? "interpreted" : "compiled");
      if (!kernels[i].why.empty()) PrintQuoted(os_ << ' ', kernels[i].why);
      os_ << '\n' << llvm::StringRef(kernels[i].text).rtrim() << '\n';
    }
    os_ << "}\n\nsteps ";
    Print(program_.entry, 0);
    os_ << "\n\n";
  }

 private:
  /// Names that several computations use go with the computation's.
  void PrintName(const Instruction& inst) {
    os_ << '%' << inst.name();
    if (uses_.lookup(inst.name()) > 1) os_ << '@' << inst.parent()->name();
  }

  void Print(size_t number, const Buffer& buffer) {
    os_ << "  " << number << " = " << kBufferKinds[static_cast<size_t>(buffer.kind)];
    if (buffer.kind == BufferKind::Parameter) PrintIndex(os_ << ' ' << buffer.parameter, buffer.index);
    if (buffer.kind == BufferKind::Constant) {
      PrintName((os_ << ' ', *buffer.source));
      PrintIndex(os_, buffer.index);
    }
    if (buffer.kind == BufferKind::Temporary) os_ << " at " << buffer.offset;
    os_ << " bytes " << buffer.size << (buffer.written ? " written" : "") << '\n';
  }

  void Print(const KernelCall& call) {
    os_ << " call " << call.kernel;
    List(os_, call.buffers, [&](const Slice& slice) { compile::Print(os_, slice); });
    os_ << " results " << call.first_result << " defined " << call.defined << " extent " << call.extent
        << " grain " << call.grain;
    if (!call.copies.empty()) PrintPairs(os_ << " copies ", call.copies);
    for (const kernel::OuterLoop& loop : call.outer) {
      os_ << " outer " << loop.extent;
      List(os_, loop.strides, [&](int64_t stride) { os_ << stride; });
    }
  }

  void Print(const Step& step, unsigned indent) {
    os_.indent(indent);
    PrintName(*step.instruction);
    os_ << " = " << kStepKinds[static_cast<size_t>(step.kind)];
    if (!step.operands.empty()) {
      os_ << ' ';
      llvm::interleave(step.operands, os_, [&](const Value& value) { compile::Print(os_, value); }, " ");
    }
    if (step.kind != StepKind::Conditional) compile::Print(os_ << " -> ", step.result);
    if (step.call.kernel >= 0) Print(step.call);
    if (HasPredicate(step.kind)) compile::Print(os_ << " by ", step.predicate);
    if (!step.constants.empty()) PrintPairs(os_ << " constants ", step.constants);
    if (step.routine) os_ << " routine";
    if (!step.why.empty()) PrintQuoted(os_ << " because ", step.why);
    for (const Sequence& part : step.parts) {
      os_ << ' ';
      Print(part, indent);
    }
    os_ << '\n';
  }

  void Print(const Sequence& sequence, unsigned indent) {
    os_ << "{\n";
    for (const auto& step : sequence) Print(*step, indent + 2);
    os_.indent(indent) << '}';
  }

  llvm::raw_ostream& os_;
  const Program& program_;
  llvm::StringMap<int> uses_;
};

}  // namespace

void PrintProgram(llvm::raw_ostream& os, const Program& program, llvm::ArrayRef<KernelText> kernels) {
  Printer(os, program).Run(kernels);
}

}  // namespace hlo::compile
