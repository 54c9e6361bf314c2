// Reads what print_program.cc writes.
#include "backends/compile/program_text.h"
#include "backends/kernel/parse.h"
#include "ir/support/stack.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace hlo::compile {
namespace {

constexpr size_t kShown = 30;  // characters of what was found, in messages
constexpr size_t kEscape = 3;  // characters of `\0A`
constexpr llvm::StringLiteral kHeader = "HloProgram";

bool IsWordChar(char c) { return llvm::isAlnum(c) || c == '_' || c == '-' || c == '.'; }

class Parser {
 public:
  Parser(const ProgramSource& text, Program& program)
      : source_(text.source.get()),
        rest_(text.source->text().slice(text.begin, text.end)),
        program_(program) {
    for (const auto& computation : program.module->computations())
      for (const Instruction* inst : computation->instructions()) {
        const auto [it, added] = instructions_.try_emplace(inst->name(), inst);
        if (!added) it->second = nullptr;  // of several computations
        instructions_.try_emplace((inst->name() + "@" + computation->name()).str(), inst);
      }
  }

  Result<ProgramKernels> Run() {
    HLO_CHECK_OK(Header());
    HLO_CHECK_OK(Expect("buffers"));
    HLO_CHECK_OK(Block([&] { return ParseBuffer(); }));
    HLO_CHECK_OK(Expect("arena"));
    HLO_TRY(program_.arena_bytes, Number());
    HLO_CHECK_OK(Expect("sizes"));
    HLO_TRY(const int64_t sizes, Number(INT32_MAX));
    program_.sizes_count = static_cast<int32_t>(sizes);
    HLO_CHECK_OK(Expect("arguments"));
    const Computation& entry = *program_.module->entry();
    for (const Instruction* parameter : entry.parameters())
      HLO_CHECK_OK(ParseValue(parameter->shape(), program_.parameters.emplace_back()));
    HLO_CHECK_OK(Expect("result"));
    HLO_CHECK_OK(ParseValue(entry.root()->shape(), program_.result));
    HLO_CHECK_OK(Expect("kernels"));
    HLO_CHECK_OK(Block([&] { return ParseKernel(); }));
    HLO_CHECK_OK(Expect("steps"));
    HLO_CHECK_OK(ParseSequence(program_.entry));
    Skip();
    if (!rest_.empty()) return Fail("the module after the steps");
    return std::move(kernels_);
  }

 private:
  // Tokens.
  void Skip() {
    for (;;) {
      rest_ = rest_.ltrim();
      if (!rest_.starts_with("//")) return;
      rest_ = rest_.drop_until([](char c) { return c == '\n'; });
    }
  }
  [[nodiscard]] uint32_t Offset() const {
    return static_cast<uint32_t>(rest_.data() - source_->text().data());
  }
  [[nodiscard]] Loc Here() const { return {source_, Offset(), Offset()}; }
  bool Take(llvm::StringRef token) {
    Skip();
    if (!rest_.starts_with(token)) return false;
    const llvm::StringRef after = rest_.drop_front(token.size());
    if (IsWordChar(token.back()) && !after.empty() && IsWordChar(after.front())) return false;
    rest_ = after;
    return true;
  }
  llvm::StringRef Word() {
    Skip();
    const llvm::StringRef word = rest_.take_while(IsWordChar);
    rest_ = rest_.drop_front(word.size());
    return word;
  }
  tl::unexpected<Diagnostic> Fail(llvm::StringRef expected) {
    Skip();
    const llvm::StringRef found = rest_.take_until([](char c) { return c == '\n'; }).take_front(kShown);
    return Error("program-text", Here(), "found '{0}', expected {1}", found, expected);
  }
  Status Expect(llvm::StringRef token) {
    if (!Take(token)) return Fail(("'" + token + "'").str());
    return {};
  }
  /// 0 to `most`.
  Result<int64_t> Number(int64_t most = INT64_MAX) {
    Skip();
    const llvm::StringRef before = rest_;
    uint64_t number = 0;
    if (!rest_.consumeInteger(10, number) && number <= static_cast<uint64_t>(most))
      return static_cast<int64_t>(number);
    rest_ = before;
    return Fail(most == INT64_MAX ? "a number" : "a number up to " + std::to_string(most));
  }
  template <class T>
  Result<T> WordOf(llvm::ArrayRef<llvm::StringLiteral> words) {
    const Loc at = (Skip(), Here());
    const auto* it = llvm::find(words, Word());
    if (it != words.end()) return static_cast<T>(it - words.begin());
    return Error("program-text", at, "expected one of {0}", llvm::join(words, ", "));
  }
  Result<std::string> Quoted() {
    HLO_CHECK_OK(Expect("\""));
    std::string text;
    while (!rest_.empty() && rest_.front() != '"' && rest_.front() != '\n') {
      unsigned char c = static_cast<unsigned char>(rest_.front());
      const bool hex =
          c == '\\' && rest_.size() > 2 && llvm::isHexDigit(rest_[1]) && llvm::isHexDigit(rest_[2]);
      if (hex) c = static_cast<unsigned char>(llvm::hexFromNibbles(rest_[1], rest_[2]));
      rest_ = rest_.drop_front(hex ? kEscape : c == '\\' && rest_.size() > 1 ? 2 : 1);
      text += static_cast<char>(c);
    }
    HLO_CHECK_OK(Expect("\""));
    return text;
  }
  Status Block(llvm::function_ref<Status()> element) {
    HLO_CHECK_OK(Expect("{"));
    while (!Take("}")) HLO_CHECK_OK(element());
    return {};
  }
  Status List(llvm::function_ref<Status()> element) {
    HLO_CHECK_OK(Expect("("));
    for (bool first = true; !Take(")"); first = false) {
      if (!first) HLO_CHECK_OK(Expect(","));
      HLO_CHECK_OK(element());
    }
    return {};
  }

  // Parts.
  Status Header() {
    HLO_CHECK_OK(Expect(kHeader));
    const Loc name = (Skip(), Here());
    if (Word() != program_.module->name())
      return Error("program-text", name, "expected the name of the module, '{0}'", program_.module->name());
    HLO_CHECK_OK(Expect(","));
    HLO_CHECK_OK(Expect("version="));
    const Loc at = Here();
    HLO_TRY(const int64_t version, Number());
    if (version != kProgramVersion)
      return Error("program-version", at, "found version {0} of programs, expected {1}", version,
                   kProgramVersion);
    return {};
  }
  /// Numbers stand for themselves, and go up.
  Status NumberOf(size_t count) {
    const Loc at = (Skip(), Here());
    HLO_TRY(const int64_t number, Number());
    if (number != static_cast<int64_t>(count))
      return Error("program-text", at, "found number {0}, expected {1}", number, count);
    return Expect("=");
  }
  Result<const Instruction*> InstructionOf() {
    const Loc at = (Skip(), Here());
    HLO_CHECK_OK(Expect("%"));
    const llvm::StringRef name = rest_.take_while([](char c) { return !llvm::isSpace(c) && c != '{'; });
    rest_ = rest_.drop_front(name.size());
    if (const Instruction* inst = instructions_.lookup(name)) return inst;
    return Error("program-text", at, "the module has no instruction '%{0}'{1}", name,
                 instructions_.contains(name) ? " in one computation only; expected %NAME@COMPUTATION" : "");
  }
  Status ParseIndex(ShapeIndex& index) {
    HLO_CHECK_OK(Expect("{"));
    while (!Take("}")) {
      if (!index.empty()) HLO_CHECK_OK(Expect(","));
      HLO_TRY(const int64_t i, Number());
      index.push_back(i);
    }
    return {};
  }
  Status ParseBuffer() {
    HLO_CHECK_OK(NumberOf(program_.buffers.size()));
    Buffer& buffer = program_.buffers.emplace_back();
    HLO_TRY(buffer.kind, WordOf<BufferKind>(kBufferKinds));
    if (buffer.kind == BufferKind::Parameter) {
      HLO_TRY(buffer.parameter, Number());
      HLO_CHECK_OK(ParseIndex(buffer.index));
    } else if (buffer.kind == BufferKind::Constant) {
      HLO_TRY(buffer.source, InstructionOf());
      HLO_CHECK_OK(ParseIndex(buffer.index));
    } else if (buffer.kind == BufferKind::Temporary) {
      HLO_CHECK_OK(Expect("at"));
      HLO_TRY(buffer.offset, Number());
    }
    HLO_CHECK_OK(Expect("bytes"));
    HLO_TRY(buffer.size, Number());
    buffer.written = Take("written");
    return {};
  }
  Status ParseSlice(Slice& slice) {
    if (!Take("-")) {
      HLO_TRY(const int64_t buffer, Number(INT32_MAX));
      slice.buffer = static_cast<int32_t>(buffer);
      HLO_CHECK_OK(Expect("["));
      HLO_TRY(slice.offset, Number());
      HLO_CHECK_OK(Expect(":"));
      HLO_TRY(const int64_t end, Number());
      if (end < slice.offset) return Fail("a slice that ends behind its begin");
      slice.size = end - slice.offset;
      HLO_CHECK_OK(Expect("]"));
    }
    if (!Take("#")) return {};
    HLO_TRY(const int64_t sizes, Number(INT32_MAX));
    slice.sizes = static_cast<int32_t>(sizes);
    return {};
  }
  Status ParseValue(const Shape& shape, Value& value) {
    value.shape = shape;
    ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) { value.leaves.push_back({leaf, {}}); });
    size_t i = 0;
    const Loc at = (Skip(), Here());
    HLO_CHECK_OK(List([&]() -> Status {
      if (i == value.leaves.size()) return Fail("no more arrays of " + ToString(shape));
      Leaf& leaf = value.leaves[i++];
      HLO_CHECK_OK(ParseSlice(leaf.slice));
      leaf.aligned = Take("*");
      leaf.written = !Take("=");
      return {};
    }));
    if (i == value.leaves.size()) return {};
    return Error("program-text", at, "found {0} arrays of {1}, expected {2}", i, ToString(shape),
                 value.leaves.size());
  }
  template <class Pairs>
  Status ParsePairs(Pairs& pairs) {
    return List([&]() -> Status {
      auto& [from, to] = pairs.emplace_back();
      HLO_CHECK_OK(ParseSlice(from));
      HLO_CHECK_OK(Expect("to"));
      return ParseSlice(to);
    });
  }

  /// To the bracket that closes the first one.
  Status ParseKernel() {
    HLO_CHECK_OK(NumberOf(kernels_.size()));
    ProgramKernel& kernel = kernels_.emplace_back();
    static constexpr llvm::StringLiteral kWords[] = {"compiled", "interpreted"};
    HLO_TRY(kernel.interpreted, WordOf<bool>(kWords));
    Skip();
    if (rest_.starts_with("\"")) {
      HLO_TRY(kernel.why, Quoted());
    }
    Skip();
    kernel.loc = Here();
    int depth = 0;
    for (size_t i = 0; i < rest_.size(); ++i) {
      if (rest_.substr(i).starts_with("//")) i = rest_.find('\n', i);
      if (i == llvm::StringRef::npos) break;
      depth += rest_[i] == '{' ? 1 : rest_[i] == '}' ? -1 : 0;
      if (rest_[i] != '}' || depth > 0) continue;
      auto parsed = kernel::ParseKernel(rest_.take_front(i + 1));
      if (!parsed) return parsed.error().loc = kernel.loc, Error(std::move(parsed).error());
      kernel.kernel = std::move(*parsed);
      rest_ = rest_.drop_front(i + 1);
      return {};
    }
    return Fail("a kernel");
  }

  Status ParseCall(KernelCall& call) {
    HLO_TRY(const int64_t kernel, Number(INT32_MAX));
    call.kernel = static_cast<int32_t>(kernel);
    HLO_CHECK_OK(List([&] { return ParseSlice(call.buffers.emplace_back()); }));
    HLO_CHECK_OK(Expect("results"));
    HLO_TRY(const int64_t results, Number());
    call.first_result = static_cast<size_t>(results);
    HLO_CHECK_OK(Expect("defined"));
    Skip();
    if (rest_.consumeInteger(10, call.defined)) return Fail("a number");
    HLO_CHECK_OK(Expect("extent"));
    HLO_TRY(call.extent, Number());
    HLO_CHECK_OK(Expect("grain"));
    HLO_TRY(call.grain, Number());
    if (Take("copies")) HLO_CHECK_OK(ParsePairs(call.copies));
    while (Take("outer")) {
      kernel::OuterLoop& loop = call.outer.emplace_back();
      HLO_TRY(loop.extent, Number());
      HLO_CHECK_OK(List([&]() -> Status {
        const bool negative = Take("-");
        HLO_TRY(const int64_t stride, Number());
        loop.strides.push_back(negative ? -stride : stride);
        return {};
      }));
    }
    return {};
  }

  Status ParseStep(Step& step) {
    step.loc = (Skip(), Here());
    HLO_TRY(step.instruction, InstructionOf());
    HLO_CHECK_OK(Expect("="));
    HLO_TRY(step.kind, WordOf<StepKind>(kStepKinds));
    if (!HasPredicate(step.kind))
      for (const Instruction* operand : step.instruction->operands())
        HLO_CHECK_OK(ParseValue(operand->shape(), step.operands.emplace_back()));
    if (step.kind != StepKind::Conditional) {
      HLO_CHECK_OK(Expect("->"));
      HLO_CHECK_OK(ParseValue(step.instruction->shape(), step.result));
    }
    if (Take("call")) HLO_CHECK_OK(ParseCall(step.call));
    if (HasPredicate(step.kind)) {
      HLO_CHECK_OK(Expect("by"));
      HLO_CHECK_OK(ParseSlice(step.predicate));
    }
    if (Take("constants")) HLO_CHECK_OK(ParsePairs(step.constants));
    step.routine = Take("routine");
    if (Take("because")) {
      HLO_TRY(step.why, Quoted());
    }
    for (Skip(); rest_.starts_with("{"); Skip()) HLO_CHECK_OK(ParseSequence(step.parts.emplace_back()));
    return {};
  }
  Status ParseSequence(Sequence& sequence) {
    if (++depth_ > kMaxNesting)
      return Error("limit-nesting", Here(), "steps may nest {0} levels", kMaxNesting);
    HLO_CHECK_OK(Block([&]() -> Status {
      sequence.push_back(std::make_unique<Step>());
      return ParseStep(*sequence.back());
    }));
    --depth_;
    return {};
  }

  const SourceBuffer* source_;
  llvm::StringRef rest_;
  Program& program_;
  ProgramKernels kernels_;
  llvm::StringMap<const Instruction*> instructions_;
  int depth_ = 0;
};

}  // namespace

std::optional<size_t> FindModuleOfProgram(llvm::StringRef text) {
  llvm::StringRef rest = text.ltrim();
  while (rest.starts_with("//")) rest = rest.drop_until([](char c) { return c == '\n'; }).ltrim();
  if (!rest.consume_front(kHeader) || (!rest.empty() && IsWordChar(rest.front()))) return std::nullopt;
  const size_t at = rest.find("\nHloModule ");
  return at == llvm::StringRef::npos ? text.size() : static_cast<size_t>(rest.data() - text.data()) + at + 1;
}

Result<ProgramKernels> ParseProgram(const ProgramSource& source, Program& program) {
  return Parser(source, program).Run();
}

}  // namespace hlo::compile
