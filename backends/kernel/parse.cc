#include "backends/kernel/parse.h"

#include "backends/kernel/threads.h"
#include "llvm/ADT/StringExtras.h"

namespace hlo::kernel {
namespace {

class Parser {
 public:
  explicit Parser(llvm::StringRef text) : rest_(text) {}

  Result<Kernel> Run() {
    HLO_CHECK_OK(Expect("kernel"));
    kernel_.name = Word().str();
    HLO_CHECK_OK(Expect("("));
    while (!Take(")")) {
      if (!kernel_.buffers.empty()) HLO_CHECK_OK(Expect(","));
      HLO_CHECK_OK(ParseBuffer());
    }
    HLO_CHECK_OK(ParseRegion(kernel_.body));
    Skip();
    if (!rest_.empty()) return Fail("end of text");
    HLO_CHECK_OK(VerifyKernel(kernel_, lines_));
    return std::move(kernel_);
  }

 private:
  // Tokens.
  void Skip() {
    for (;;) {
      while (!rest_.empty() && llvm::isSpace(rest_.front())) {
        line_ += rest_.front() == '\n';
        rest_ = rest_.drop_front();
      }
      if (!rest_.starts_with("//")) return;
      rest_ = rest_.drop_until([](char c) { return c == '\n'; });
    }
  }
  static bool IsWordChar(char c) { return llvm::isAlnum(c) || c == '-' || c == '_' || c == '.'; }
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
    constexpr size_t kShown = 30;  // characters
    const llvm::StringRef found = rest_.take_until([](char c) { return c == '\n'; }).take_front(kShown);
    return Error("kernel-text", {}, "line {0}: found '{1}', expected {2}", line_, found, expected);
  }
  Status Expect(llvm::StringRef token) {
    if (!Take(token)) return Fail(("'" + token + "'").str());
    return {};
  }
  Result<int64_t> Number() {
    Skip();
    int64_t number = 0;
    if (rest_.consumeInteger(10, number)) return Fail("a number");
    return number;
  }
  Result<uint64_t> Hex() {
    Skip();
    uint64_t number = 0;
    if (!rest_.consume_front("0x") || rest_.consumeInteger(16, number)) return Fail("a hexadecimal number");
    return number;
  }
  /// An id after its letter; bounded, so that tables by id stay small.
  Result<int32_t> Id(char letter) {
    Skip();
    constexpr uint64_t kMaxIds = 1 << 24;
    uint64_t id = 0;
    const llvm::StringRef before = rest_;
    if (!rest_.consume_front(llvm::StringRef(&letter, 1)) || rest_.consumeInteger(10, id) || id >= kMaxIds) {
      rest_ = before;
      return Fail(letter == '%' ? "a value like %0" : letter == 'i' ? "a loop like i0" : "a buffer like b0");
    }
    return static_cast<int32_t>(id);
  }
  Result<ElementType> Type() {
    const llvm::StringRef before = rest_;
    if (const auto type = ParseElementType(Word())) return *type;
    rest_ = before;
    return Fail("an element type");
  }

  // Parts of statements.
  void SetType(ValueId value, ElementType type) {
    const auto i = static_cast<size_t>(value);
    if (kernel_.value_types.size() <= i) kernel_.value_types.resize(i + 1, ElementType::Pred);
    kernel_.value_types[i] = type;
  }
  Result<ElementType> TypeOf(ValueId value) {
    if (static_cast<size_t>(value) >= kernel_.value_types.size()) return Fail("defined values");
    return kernel_.TypeOf(value);
  }
  template <class Values>
  Status ParseValues(Values& values) {
    do {
      HLO_TRY(const ValueId value, Id('%'));
      values.push_back(value);
    } while (Take(","));
    return {};
  }
  Result<Address> ParseAddress() {
    Address address;
    do {
      Skip();
      if (rest_.starts_with("i") || rest_.starts_with("%")) {
        const char letter = rest_.front();
        HLO_TRY(const int32_t id, Id(letter));
        int64_t factor = 1;
        if (Take("*")) {
          HLO_TRY(factor, Number());
        }
        letter == 'i' ? address.AddLoop(id, factor) : address.AddValue(id, factor);
      } else {
        HLO_TRY(const int64_t offset, Number());
        address.offset += offset;
      }
    } while (Take("+"));
    return address;
  }
  Result<BufferId> ParsePlace(Address& address) {
    HLO_TRY(const BufferId buffer, Id('b'));
    if (static_cast<size_t>(buffer) >= kernel_.buffers.size()) return Fail("a buffer of the kernel");
    HLO_CHECK_OK(Expect("["));
    HLO_TRY(address, ParseAddress());
    HLO_CHECK_OK(Expect("]"));
    return buffer;
  }
  Status ParseLayout(Buffer& buffer) {
    if (Take("swizzle")) {
      HLO_CHECK_OK(Expect("("));
      HLO_TRY(const int64_t shift, Number());
      HLO_CHECK_OK(Expect(","));
      HLO_TRY(const int64_t mask, Number());
      HLO_CHECK_OK(Expect(")"));
      if (shift < 1 || shift > kMaxLanes || mask < 1 || mask > kMaxLanes)
        return Fail("numbers up to 1024 before this");
      buffer.swizzle = {static_cast<int32_t>(shift), static_cast<int32_t>(mask)};
    }
    if (Take("over")) {
      HLO_TRY(buffer.over, Id('b'));
    }
    return {};
  }
  Status ParseBuffer() {
    Buffer buffer;
    buffer.space = Take("local") ? Space::Local : Take("shared") ? Space::Shared : Space::Global;
    buffer.written = buffer.space != Space::Global || Take("out");
    HLO_TRY(const BufferId id, Id('b'));
    if (static_cast<size_t>(id) != kernel_.buffers.size()) return Fail("buffers in order");
    HLO_CHECK_OK(Expect(":"));
    HLO_TRY(buffer.type, Type());
    HLO_CHECK_OK(Expect("["));
    HLO_TRY(buffer.count, Number());
    HLO_CHECK_OK(Expect("]"));
    HLO_CHECK_OK(ParseLayout(buffer));
    kernel_.buffers.push_back(buffer);
    return {};
  }
  Result<Dimension> ParseDimension() {
    Dimension d{};
    HLO_TRY(d.id, Id('i'));
    kernel_.loop_count = std::max(kernel_.loop_count, d.id + 1);
    HLO_CHECK_OK(Expect("in"));
    HLO_TRY(d.extent, Number());
    if (Take("of")) {
      HLO_TRY(d.outer, Id('i'));
      HLO_CHECK_OK(Expect("below"));
      HLO_TRY(d.limit, Number());
    }
    if (Take("when")) {
      HLO_TRY(d.when, Id('%'));
    }
    if (Take("before")) {
      HLO_TRY(d.before, Id('%'));
    }
    d.ordered = Take("ordered");
    d.parallel = Take("parallel");
    const llvm::StringRef before = rest_;
    if (const auto binding = ParseBinding(Word()))
      d.binding = *binding;
    else
      rest_ = before;
    if (Take("vector")) {
      HLO_CHECK_OK(Expect("("));
      HLO_TRY(const int64_t width, Number());
      HLO_CHECK_OK(Expect(","));
      HLO_TRY(const int64_t unroll, Number());
      HLO_CHECK_OK(Expect(")"));
      if (width < 2 || width > kMaxLanes || unroll < 1 || unroll > kMaxLanes)
        return Fail("a vector of 2 to 1024 lanes before this");
      d.width = static_cast<int32_t>(width), d.unroll = static_cast<int32_t>(unroll);
    } else if (Take("unroll")) {
      HLO_CHECK_OK(Expect("("));
      HLO_TRY(const int64_t unroll, Number());
      HLO_CHECK_OK(Expect(")"));
      if (unroll < 1 || unroll > kMaxLanes) return Fail("1 to 1024 iterations before this");
      d.unroll = static_cast<int32_t>(unroll);
    }
    return d;
  }

  // Statements.
  Status ParseRegion(Region& region) {
    constexpr int kMaxDepth = 200;
    if (++depth_ > kMaxDepth) return Fail("regions less than 200 deep");
    HLO_CHECK_OK(Expect("{"));
    while (!Take("}")) {
      if (Take("yield")) {
        HLO_CHECK_OK(ParseValues(region.yields));
        continue;
      }
      lines_.push_back(line_);
      if (Take("store")) {
        HLO_CHECK_OK(ParseStore(region, false));
      } else if (Take("stream")) {
        HLO_CHECK_OK(ParseStore(region, true));
      } else if (Take("barrier")) {
        region.stmts.emplace_back(BarrierStmt{});
      } else if (Take("load-matrix")) {
        HLO_CHECK_OK(ParseLoadMatrix(region));
      } else if (Take("multiply-matrix")) {
        HLO_CHECK_OK(ParseMultiplyMatrix(region));
      } else if (Take("copy")) {
        HLO_CHECK_OK(ParseCopy(region));
      } else if (Take("commit-copies")) {
        region.stmts.emplace_back(CommitCopiesStmt{});
      } else if (Take("wait-for-copies")) {
        HLO_TRY(const int64_t pending, Number());
        region.stmts.emplace_back(WaitForCopiesStmt{pending});
      } else if (Take("atomic")) {
        HLO_CHECK_OK(ParseAtomic(region, -1));
      } else if (Take("for")) {
        LoopStmt loop{};
        HLO_TRY(loop.loop, ParseDimension());
        loop.body = std::make_unique<Region>();
        HLO_CHECK_OK(ParseRegion(*loop.body));
        region.stmts.emplace_back(std::move(loop));
      } else {
        HLO_CHECK_OK(ParseDefinition(region));
      }
    }
    --depth_;
    return {};
  }
  Status ParseStore(Region& region, bool streaming) {
    StoreStmt store{};
    store.streaming = streaming;
    HLO_TRY(store.buffer, ParsePlace(store.address));
    HLO_CHECK_OK(Expect(","));
    HLO_TRY(store.value, Id('%'));
    if (Take("if")) {
      HLO_TRY(store.mask, Id('%'));
    }
    region.stmts.emplace_back(std::move(store));
    return {};
  }
  /// The row of a table whose text comes next.
  template <class Parse>
  auto Name(Parse parse, const char* expected) -> Result<std::decay_t<decltype(*parse(""))>> {
    Skip();
    const llvm::StringRef before = rest_;
    if (const auto found = parse(Word())) return *found;
    rest_ = before;
    return Fail(expected);
  }
  Status ParseAtomic(Region& region, ValueId result) {
    AtomicStmt atomic{};
    atomic.result = result;
    HLO_TRY(atomic.op, Name(ParseAtomicOp, "an atomic operation"));
    HLO_TRY(atomic.buffer, ParsePlace(atomic.address));
    HLO_CHECK_OK(Expect(","));
    HLO_TRY(atomic.value, Id('%'));
    if (atomic.op == AtomicOp::CompareExchange) {
      atomic.expected = atomic.value;
      HLO_CHECK_OK(Expect(","));
      HLO_TRY(atomic.value, Id('%'));
    }
    if (Take("if")) {
      HLO_TRY(atomic.mask, Id('%'));
      if (result >= 0) {
        HLO_CHECK_OK(Expect("else"));
        HLO_TRY(atomic.otherwise, Id('%'));
      }
    }
    if (result >= 0) SetType(result, kernel_.buffers[static_cast<size_t>(atomic.buffer)].type);
    region.stmts.emplace_back(std::move(atomic));
    return {};
  }
  Status ParseShuffle(Region& region, ValueId result) {
    ShuffleStmt shuffle{};
    shuffle.result = result;
    HLO_TRY(shuffle.mode, Name(ParseShuffleMode, "up, down, xor or index"));
    HLO_TRY(shuffle.value, Id('%'));
    HLO_CHECK_OK(Expect("by"));
    HLO_TRY(shuffle.by, ParseAddress());
    HLO_TRY(const ElementType type, TypeOf(shuffle.value));
    SetType(result, type);
    region.stmts.emplace_back(std::move(shuffle));
    return {};
  }
  Status ParseLaneReduce(Region& region, ValueId result) {
    LaneReduceStmt reduce{};
    reduce.result = result;
    HLO_TRY(reduce.kind, Name(ParseOpKind, "an opcode"));
    HLO_TRY(reduce.value, Id('%'));
    HLO_TRY(const ElementType type, TypeOf(reduce.value));
    SetType(result, type);
    region.stmts.emplace_back(reduce);
    return {};
  }
  Result<MatrixUnit> ParseUnit() {
    MatrixUnit unit;
    HLO_TRY(unit.type, Type());
    Skip();
    if (rest_.consumeInteger(10, unit.rows) || !rest_.consume_front("x") ||
        rest_.consumeInteger(10, unit.columns) || !rest_.consume_front("x") ||
        rest_.consumeInteger(10, unit.depth))
      return Fail("rows, columns and depth like 16x8x16");
    return unit;
  }
  Status ParseLoadMatrix(Region& region) {
    LoadMatrixStmt load{};
    HLO_TRY(load.unit, ParseUnit());
    load.right = Take("right");
    if (!load.right) HLO_CHECK_OK(Expect("left"));
    HLO_TRY(load.into, ParsePlace(load.at));
    HLO_CHECK_OK(Expect(","));
    HLO_TRY(load.from, ParsePlace(load.address));
    HLO_CHECK_OK(Expect("pitch"));
    HLO_TRY(load.pitch, Number());
    load.across = Take("across");
    region.stmts.emplace_back(std::move(load));
    return {};
  }
  Status ParseMultiplyMatrix(Region& region) {
    MultiplyMatrixStmt multiply{};
    HLO_TRY(multiply.unit, ParseUnit());
    HLO_TRY(multiply.sums.buffer, ParsePlace(multiply.sums.address));
    for (MultiplyMatrixStmt::Words* words : {&multiply.left, &multiply.right}) {
      HLO_CHECK_OK(Expect(","));
      HLO_TRY(words->buffer, ParsePlace(words->address));
    }
    region.stmts.emplace_back(std::move(multiply));
    return {};
  }
  Status ParseCopy(Region& region) {
    CopyStmt copy{};
    HLO_TRY(copy.into, ParsePlace(copy.at));
    HLO_CHECK_OK(Expect(","));
    HLO_TRY(copy.from, ParsePlace(copy.address));
    HLO_CHECK_OK(Expect("of"));
    HLO_TRY(copy.count, Number());
    if (Take("if")) {
      HLO_TRY(copy.mask, Id('%'));
    }
    region.stmts.emplace_back(std::move(copy));
    return {};
  }
  Status ParseDefinition(Region& region) {
    llvm::SmallVector<ValueId, 1> results;
    HLO_CHECK_OK(ParseValues(results));
    HLO_CHECK_OK(Expect("="));
    if (Take("reduce")) return ParseReduce(region, std::move(results));
    if (results.size() != 1) return Fail("one result, or 'reduce'");
    const ValueId result = results[0];
    if (Take("constant")) return ParseConstant(region, result);
    if (Take("index")) {
      HLO_TRY(Address address, ParseAddress());
      region.stmts.emplace_back(IndexStmt{result, std::move(address)});
      SetType(result, ElementType::S64);
      return {};
    }
    if (Take("load")) return ParseLoad(region, result);
    if (Take("atomic")) return ParseAtomic(region, result);
    if (Take("shuffle")) return ParseShuffle(region, result);
    if (Take("lane-reduce")) return ParseLaneReduce(region, result);
    return ParseOp(region, result);
  }
  Status ParseConstant(Region& region, ValueId result) {
    ConstantStmt constant{result, ElementType::Pred, {0, 0}};
    HLO_TRY(constant.type, Type());
    HLO_TRY(constant.bits[0], Hex());
    if (Take(",")) {
      HLO_TRY(constant.bits[1], Hex());
    }
    region.stmts.emplace_back(constant);
    SetType(result, constant.type);
    return {};
  }
  Status ParseLoad(Region& region, ValueId result) {
    LoadStmt load{};
    load.result = result;
    HLO_TRY(load.buffer, ParsePlace(load.address));
    if (Take("if")) {
      HLO_TRY(load.mask, Id('%'));
      HLO_CHECK_OK(Expect("else"));
      HLO_TRY(load.otherwise, Id('%'));
    }
    SetType(result, kernel_.buffers[static_cast<size_t>(load.buffer)].type);
    region.stmts.emplace_back(std::move(load));
    return {};
  }
  Status ParseOp(Region& region, ValueId result) {
    OpStmt op{};
    op.result = result;
    Skip();
    const llvm::StringRef before = rest_;
    const auto kind = ParseOpKind(Word());
    if (!kind || !MayCompute(*kind)) {
      rest_ = before;
      return Fail("an elementwise opcode");
    }
    op.kind = *kind;
    if (op.kind == OpKind::Compare) {
      CompareAttrs attrs;
      const auto direction = ParseEnum(EnumInfoOf<Direction>(), Word());
      if (!direction) return Fail("a direction before this");
      attrs.direction = static_cast<Direction>(*direction);
      if (Take("total")) attrs.type = CompareType::TotalOrder;
      op.attrs = attrs;
    } else if (op.kind == OpKind::ReducePrecision) {
      ReducePrecisionAttrs attrs;
      Skip();
      if (!rest_.consume_front("e") || rest_.consumeInteger(10, attrs.exponent_bits) ||
          !rest_.consume_front("m") || rest_.consumeInteger(10, attrs.mantissa_bits))
        return Fail("bits like e5m10");
      op.attrs = attrs;
    }
    op.bounded = Take("bounded");
    HLO_TRY(op.type, Type());
    HLO_CHECK_OK(ParseValues(op.operands));
    SetType(result, op.type);
    region.stmts.emplace_back(std::move(op));
    return {};
  }
  Status ParseReduce(Region& region, llvm::SmallVector<ValueId, 1> results) {
    ReduceStmt reduce{};
    reduce.results = std::move(results);
    do {
      HLO_TRY(const Dimension loop, ParseDimension());
      reduce.loops.push_back(loop);
    } while (Take(","));
    reduce.in_order = Take("in_order");
    HLO_CHECK_OK(Expect("init"));
    HLO_CHECK_OK(ParseValues(reduce.inits));
    reduce.body = std::make_unique<Region>();
    HLO_CHECK_OK(ParseRegion(*reduce.body));
    HLO_CHECK_OK(Expect("by"));
    HLO_CHECK_OK(Expect("("));
    HLO_CHECK_OK(ParseValues(reduce.parameters));
    HLO_CHECK_OK(Expect(")"));
    const size_t count = reduce.inits.size();
    if (reduce.parameters.size() != 2 * count || reduce.body->yields.size() != count ||
        reduce.results.size() != count)
      return Fail("a result, an element and two parameters for each init");
    for (size_t i = 0; i < count; ++i) {
      HLO_TRY(const ElementType init, TypeOf(reduce.inits[i]));
      HLO_TRY(const ElementType element, TypeOf(reduce.body->yields[i]));
      SetType(reduce.parameters[i], init);
      SetType(reduce.parameters[count + i], element);
      SetType(reduce.results[i], init);
    }
    reduce.combiner = std::make_unique<Region>();
    HLO_CHECK_OK(ParseRegion(*reduce.combiner));
    region.stmts.emplace_back(std::move(reduce));
    return {};
  }

  static constexpr int64_t kMaxLanes = 1024;
  Kernel kernel_;
  llvm::StringRef rest_;
  int line_ = 1;
  std::vector<int> lines_;  // of the statements, in the order of their first words
  int depth_ = 0;
};

}  // namespace

Result<Kernel> ParseKernel(llvm::StringRef text) { return Parser(text).Run(); }

}  // namespace hlo::kernel
