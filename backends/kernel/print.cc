// Kernels as text.
#include "backends/kernel/kernel.h"
#include "backends/kernel/threads.h"

namespace hlo::kernel {
namespace {

class Printer {
 public:
  Printer(llvm::raw_ostream& os, const Kernel& kernel) : os_(os), kernel_(kernel) {}

  void PrintKernel(bool with_name) {
    os_ << "kernel";
    if (with_name) os_ << ' ' << kernel_.name;
    os_ << '(';
    for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const Buffer& buffer = kernel_.buffers[i];
      os_ << (i == 0 ? "" : ", ")
          << (buffer.space == Space::Shared ? "shared "
              : buffer.IsLocal()            ? "local "
              : buffer.written              ? "out "
                                            : "")
          << 'b' << i << ": " << ToString(buffer.type) << '[' << buffer.count << ']';
      if (buffer.swizzle.mask != 0)
        os_ << " swizzle(" << buffer.swizzle.shift << ", " << buffer.swizzle.mask << ')';
      if (buffer.over >= 0) os_ << " over b" << buffer.over;
    }
    os_ << ") {\n";
    PrintRegion(kernel_.body, 1);
    os_ << "}\n";
  }

 private:
  llvm::raw_ostream& Line(int depth) { return os_.indent(static_cast<unsigned>(2 * depth)); }

  void PrintRegion(const Region& region, int depth) {
    for (const Stmt& stmt : region.stmts) std::visit([&](const auto& s) { PrintStmt(s, depth); }, stmt);
    if (region.yields.empty()) return;
    Line(depth) << "yield ";
    PrintValues(region.yields);
    os_ << '\n';
  }

  void PrintValues(llvm::ArrayRef<ValueId> values) {
    for (size_t i = 0; i < values.size(); ++i) os_ << (i == 0 ? "%" : ", %") << values[i];
  }

  void PrintAddress(const Address& address) {
    const char* plus = "";
    auto term = [&](char letter, int64_t id, int64_t factor) {
      os_ << plus << letter << id;
      if (factor != 1) os_ << '*' << factor;
      plus = " + ";
    };
    for (const auto& t : address.loops) term('i', t.id, t.factor);
    for (const auto& t : address.values) term('%', t.id, t.factor);
    if (address.offset != 0 || *plus == '\0') os_ << plus << address.offset;
  }

  void PrintDimension(const Dimension& d) {
    os_ << 'i' << d.id << " in " << d.extent;
    if (d.outer >= 0) os_ << " of i" << d.outer << " below " << d.limit;
    if (d.when >= 0) os_ << " when %" << d.when;
    if (d.before >= 0) os_ << " before %" << d.before;
    if (d.ordered) os_ << " ordered";
    if (d.parallel) os_ << " parallel";
    if (d.binding != Binding::None) os_ << ' ' << ToString(d.binding);
    if (d.width > 1)
      os_ << " vector(" << d.width << ", " << d.unroll << ')';
    else if (d.unroll > 1)
      os_ << " unroll(" << d.unroll << ')';
  }

  void PrintStmt(const ConstantStmt& s, int depth) {
    Line(depth) << '%' << s.result << " = constant " << ToString(s.type) << " 0x";
    os_.write_hex(s.bits[0]);
    if (s.bits[1] != 0) (os_ << ",0x").write_hex(s.bits[1]);
    os_ << '\n';
  }

  void PrintStmt(const IndexStmt& s, int depth) {
    Line(depth) << '%' << s.result << " = index ";
    PrintAddress(s.address);
    os_ << '\n';
  }

  void PrintStmt(const OpStmt& s, int depth) {
    Line(depth) << '%' << s.result << " = " << Info(s.kind).text;
    if (const auto* compare = s.attrs.GetIf<CompareAttrs>()) {
      os_ << ' ' << ToString(compare->direction);
      if (compare->type == CompareType::TotalOrder) os_ << " total";
    } else if (const auto* precision = s.attrs.GetIf<ReducePrecisionAttrs>()) {
      os_ << " e" << precision->exponent_bits << 'm' << precision->mantissa_bits;
    }
    if (s.bounded) os_ << " bounded";
    os_ << ' ' << ToString(s.type) << ' ';
    PrintValues(s.operands);
    os_ << '\n';
  }

  void PrintStmt(const LoadStmt& s, int depth) {
    Line(depth) << '%' << s.result << " = load b" << s.buffer << '[';
    PrintAddress(s.address);
    os_ << ']';
    if (s.mask >= 0) os_ << " if %" << s.mask << " else %" << s.otherwise;
    os_ << '\n';
  }

  void PrintStmt(const StoreStmt& s, int depth) {
    Line(depth) << (s.streaming ? "stream b" : "store b") << s.buffer << '[';
    PrintAddress(s.address);
    os_ << "], %" << s.value;
    if (s.mask >= 0) os_ << " if %" << s.mask;
    os_ << '\n';
  }

  void PrintStmt(const LoopStmt& s, int depth) {
    Line(depth) << "for ";
    PrintDimension(s.loop);
    os_ << " {\n";
    PrintRegion(*s.body, depth + 1);
    Line(depth) << "}\n";
  }

  void PrintStmt(const ReduceStmt& s, int depth) {
    Line(depth);
    PrintValues(s.results);
    os_ << " = reduce ";
    for (size_t i = 0; i < s.loops.size(); ++i) {
      if (i != 0) os_ << ", ";
      PrintDimension(s.loops[i]);
    }
    os_ << (s.in_order ? " in_order init " : " init ");
    PrintValues(s.inits);
    os_ << " {\n";
    PrintRegion(*s.body, depth + 1);
    Line(depth) << "} by (";
    PrintValues(s.parameters);
    os_ << ") {\n";
    PrintRegion(*s.combiner, depth + 1);
    Line(depth) << "}\n";
  }

  void PrintStmt(const BarrierStmt&, int depth) { Line(depth) << "barrier\n"; }

  void PrintStmt(const AtomicStmt& s, int depth) {
    Line(depth);
    if (s.result >= 0) os_ << '%' << s.result << " = ";
    os_ << "atomic " << ToString(s.op) << " b" << s.buffer << '[';
    PrintAddress(s.address);
    os_ << "], %";
    if (s.expected >= 0) os_ << s.expected << ", %";
    os_ << s.value;
    if (s.mask >= 0) os_ << " if %" << s.mask;
    if (s.otherwise >= 0) os_ << " else %" << s.otherwise;
    os_ << '\n';
  }

  void PrintStmt(const ShuffleStmt& s, int depth) {
    Line(depth) << '%' << s.result << " = shuffle " << ToString(s.mode) << " %" << s.value << " by ";
    PrintAddress(s.by);
    os_ << '\n';
  }

  void PrintStmt(const LaneReduceStmt& s, int depth) {
    Line(depth) << '%' << s.result << " = lane-reduce " << Info(s.kind).text << " %" << s.value << '\n';
  }

  void PrintPlace(BufferId buffer, const Address& address) {
    os_ << 'b' << buffer << '[';
    PrintAddress(address);
    os_ << ']';
  }

  void PrintStmt(const LoadMatrixStmt& s, int depth) {
    Line(depth) << "load-matrix " << ToString(s.unit) << (s.right ? " right " : " left ");
    PrintPlace(s.into, s.at);
    os_ << ", ";
    PrintPlace(s.from, s.address);
    os_ << " pitch " << s.pitch << (s.across ? " across\n" : "\n");
  }

  void PrintStmt(const MultiplyMatrixStmt& s, int depth) {
    Line(depth) << "multiply-matrix " << ToString(s.unit) << ' ';
    PrintPlace(s.sums.buffer, s.sums.address);
    os_ << ", ";
    PrintPlace(s.left.buffer, s.left.address);
    os_ << ", ";
    PrintPlace(s.right.buffer, s.right.address);
    os_ << '\n';
  }

  void PrintStmt(const CopyStmt& s, int depth) {
    Line(depth) << "copy ";
    PrintPlace(s.into, s.at);
    os_ << ", ";
    PrintPlace(s.from, s.address);
    os_ << " of " << s.count;
    if (s.mask >= 0) os_ << " if %" << s.mask;
    os_ << '\n';
  }

  void PrintStmt(const CommitCopiesStmt&, int depth) { Line(depth) << "commit-copies\n"; }
  void PrintStmt(const WaitForCopiesStmt& s, int depth) {
    Line(depth) << "wait-for-copies " << s.pending << '\n';
  }

  llvm::raw_ostream& os_;
  const Kernel& kernel_;
};

}  // namespace

void Print(llvm::raw_ostream& os, const Kernel& kernel, bool with_name) {
  Printer(os, kernel).PrintKernel(with_name);
}

std::string ToString(const Kernel& kernel) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Print(os, kernel);
  return text;
}

}  // namespace hlo::kernel
