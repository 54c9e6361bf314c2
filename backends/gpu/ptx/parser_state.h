// The parser's parts share this: tokens, scopes, the module that is being made.
#pragma once
#include <map>

#include "backends/gpu/ptx/parser.h"
#include "backends/gpu/ptx/tokens.h"
#include "llvm/ADT/StringMap.h"

namespace hlo::ptx {

class Parser {
 public:
  explicit Parser(const SourcePtr& source);
  Result<std::shared_ptr<const Module>> Run();

 private:
  /// What a name stands for.
  struct Entity {
    const Register* reg = nullptr;
    std::vector<const Register*> parts;  // of a vector of registers
    Variable* variable = nullptr;
    Function* function = nullptr;
    const std::vector<std::string>* branch_targets = nullptr;
  };
  /// Registers `PREFIX0` to `PREFIX(count - 1)`, made when they are used.
  struct Range {
    uint64_t count;
    Type type;
  };
  struct Scope {
    int parent = -1;
    llvm::StringMap<Entity> names;
    llvm::StringMap<Range> ranges;
    llvm::StringMap<uint32_t> labels;
  };
  /// A branch to a label that is looked up when the function has ended.
  struct Jump {
    size_t instruction;
    int operand;  // -1: the next of its targets
    std::string label;
    int scope;
    Loc loc;
  };

  // parse_tokens.cc
  void Next();
  [[nodiscard]] Loc LocOf(const Token& token) const {
    return {module_->source.get(), token.begin, token.end};
  }
  [[nodiscard]] Loc Here() const { return LocOf(token_); }
  [[nodiscard]] bool Is(llvm::StringRef punctuation) const {
    return token_.kind == TokenKind::Punctuation && token_.text == punctuation;
  }
  [[nodiscard]] bool IsDotted(llvm::StringRef word) const {
    return token_.kind == TokenKind::Dotted && token_.text == word;
  }
  [[nodiscard]] bool PeekIs(llvm::StringRef punctuation) const;
  bool Take(llvm::StringRef punctuation);
  bool TakeDotted(llvm::StringRef word);
  Status Expect(llvm::StringRef punctuation);
  tl::unexpected<Diagnostic> Unexpected(llvm::StringRef expected) const;
  Result<std::string> TakeName(llvm::StringRef what);
  Result<uint64_t> TakeUnsigned(llvm::StringRef what);
  uint32_t LineOf(uint32_t offset);

  // parse_constants.cc
  Result<int64_t> ParseConstant() { return ParseTernary(0); }
  Result<int64_t> ParseTernary(int depth);
  Result<int64_t> ParseBinary(int level, int depth);
  Result<int64_t> ParseUnary(int depth);
  Status ParseInitializer(Variable& variable);
  Status ParseInitializerList(Variable& variable, size_t dim, uint64_t first, uint64_t count, int depth);
  Status ParseInitializerValue(Variable& variable, uint64_t element);
  Status ParseInitializerPointer(Variable& variable, uint64_t at);

  // parse_module.cc
  Status ParseHeader();
  Status ParseTarget();
  Status ParseItem();
  Status ParseFile();
  Status SkipSection();
  Status ParseFunction(Function& function);
  Status ParseDirectives(Function& function);
  Status ParseThreads(unsigned (&threads)[3], llvm::StringRef name);
  Status CheckLimits() const;

  // parse_declarations.cc
  Status ParseVariable(Variable variable, std::deque<Variable>& into);
  Status ParseVariableType(Variable& variable);
  Status ParseDims(Variable& variable);
  Status ParseParams(Function& function, std::vector<Variable*>& params);
  Status ParseRegisters();
  Status DeclareRegisters(Type type, unsigned vector);
  const Register* NewRegister(std::string name, Type type);
  Status Declare(llvm::StringRef name, Entity entity, Loc loc);
  const Entity* Find(llvm::StringRef name);
  const Entity* FindInRanges(Scope& scope, llvm::StringRef name);

  // parse_body.cc
  Status ParseBody();
  Status ParseStatement(bool& done);
  Status ParseLabel();
  Status ParseBranchTargets(const std::string& label, Loc loc);
  Status ParsePrototype(const std::string& label, Loc loc);
  Status ParseDotted();
  Status ParseInstruction();
  Status CheckOrder(const Words& words, Mod mod) const;
  Status ParseWords(Words& words, Loc& loc);
  Status ParseCall(Instruction& inst);
  Status ParseJump(Instruction& inst);
  Result<const Register*> ParsePredicate();
  Status ResolveJumps();
  Result<const Form*> ChooseForm(llvm::StringRef opcode, const Words& words, std::vector<Operand>& operands,
                                 Loc loc);

  // parse_operands.cc
  Result<std::vector<Operand>> ParseOperands();
  Result<Operand> ParseOperand(bool in_vector);
  Result<Operand> ParseAddress();
  Result<Operand> ParseNamed();
  Result<Operand> ParseNumber();
  Status ParsePair(Operand& operand);

  std::shared_ptr<Module> module_;
  Lexer lexer_;
  Token token_;
  Function* function_ = nullptr;
  std::vector<Scope> scopes_;  // 0: the module's; others of the function
  int scope_ = 0;
  std::vector<Jump> jumps_;
  std::deque<std::vector<std::string>> branch_targets_;
  uint32_t line_ = 1, line_offset_ = 0;  // of LineOf()
  size_t constants_ = 0;
};

}  // namespace hlo::ptx
