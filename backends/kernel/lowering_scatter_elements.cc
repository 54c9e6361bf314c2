// Scatters into few elements: each goes through all rows.
#include "backends/kernel/lowering.h"
#include "llvm/ADT/STLExtras.h"

namespace hlo::kernel {
namespace {

/// More elements leave each thread too much to go through; of the threads that fill a machine.
constexpr int64_t kFewer = 4;
/// More rows take longer in one thread than in all blocks, unless they meet on windows so few that these have
/// little to do either: by estimates for an H200, ten cycles for a row and 3000 for eight that a block takes.
constexpr int64_t kMostRows = 8192, kFewWindows = 32;
/// What makes an update is computed for every element of the result, its own or not.
constexpr size_t kMostOps = 24;

}  // namespace

bool Lowering::IsByElements(const Instruction& root, const ScatterWindow& window, const Dims& rows) const {
  const auto& attrs = root.attr<ScatterAttrs>();
  const Shape& operand = root.operand(0)->shape();
  int64_t windows = 1, count = 1;
  for (const int64_t d : attrs.scatter_dims_to_operand_dims) windows *= operand.dim(d);
  for (const int64_t size : rows) count *= size;
  size_t ops = 0;
  for (const auto& inst : fused_.instructions()) ops += inst->kind() != OpKind::Parameter ? 1 : 0;
  return window.apart && attrs.input_batching_dims.empty() && ops <= kMostOps &&
         (count <= kMostRows || windows <= kFewWindows) &&
         operand.ElementCount() <= target_.blocks.full / kFewer;
}

Status Lowering::LowerScatterByElements(const Instruction& root, llvm::ArrayRef<int64_t> numbers,
                                        const ScatterWindow& window, const Dims& rows) {
  const auto& attrs = root.attr<ScatterAttrs>();
  const auto count = static_cast<int64_t>(numbers.size());
  const auto first = static_cast<int64_t>(fused_.parameters().size());
  const Shape& operand = root.operand(0)->shape();
  // Windows have one element in dimensions that indices go along, and begin at 0 in the others.
  Dims dims = window.of_operand;
  for (const int64_t d : attrs.scatter_dims_to_operand_dims) dims[static_cast<size_t>(d)] = operand.dim(d);
  return InLoops(dims, [&](const Indices& to) -> Status {
    Values inits;
    const Address place = Linearize(to, operand.dims());
    for (const int64_t number : numbers)
      inits.push_back(LoadHere(static_cast<BufferId>(first + number), place));
    inits.push_back(builder_.Constant(ElementType::Pred, 0));
    llvm::SmallVector<LoopId, 4> loops;
    const int nest = nests_++;
    Indices row;
    for (size_t d = 0; d < rows.size(); ++d)
      row.push_back(MakeLoops({nest, static_cast<int64_t>(d)}, rows[d], loops));
    // What arrives in a row, and whether it is the element's.
    const auto elements = [&]() -> Result<Values> {
      ValueId mine = -1;
      for (size_t i = 0; i < attrs.scatter_dims_to_operand_dims.size(); ++i) {
        const auto d = static_cast<size_t>(attrs.scatter_dims_to_operand_dims[i]);
        HLO_TRY(const ValueId index, IndexComponent(*root.operand(count), row, attrs.index_vector_dim,
                                                    static_cast<int64_t>(i), -1));
        mine = builder_.And(mine, builder_.Compare(Direction::EQ, index, builder_.Index(to[d])));
      }
      const Shape& updates = root.operand(count + 1)->shape();
      Indices from(static_cast<size_t>(updates.rank()));
      for (size_t w = 0; w < window.sizes.size(); ++w)
        if (window.sizes[w] > 1)
          from[static_cast<size_t>(attrs.update_window_dims[w])] = to[window.operand_dims[w]];
      for (size_t d = 0, next = 0; d < from.size(); ++d)
        if (!llvm::is_contained(attrs.update_window_dims, static_cast<int64_t>(d))) from[d] = row[next++];
      Values values;
      for (int64_t k = 0; k < count; ++k) {
        HLO_TRY(const ValueId arriving, EmitOne(*root.operand(count + 1 + k), from, -1));
        values.push_back(arriving);
      }
      values.push_back(mine >= 0 ? mine : builder_.Constant(ElementType::Pred, 1));
      return values;
    };
    const auto combine = [&](llvm::ArrayRef<ValueId> parameters) -> Result<Values> {
      const auto half = static_cast<size_t>(count);
      Values both(parameters.take_front(half));
      both.append(parameters.begin() + half + 1, parameters.end() - 1);
      HLO_TRY(Values combined, InlineScalars(*root.callee(), both));
      for (size_t k = 0; k < half; ++k)
        combined[k] = builder_.Op(OpKind::Select, lowered_.kernel.TypeOf(parameters[k]),
                                  {parameters.back(), combined[k], parameters[k]});
      combined.push_back(parameters[half]);
      return combined;
    };
    HLO_TRY(const Values results, Fold(root, loops, inits, elements, combine));
    for (size_t k = 0; k < numbers.size(); ++k) StoreOutput(numbers[k], operand, to, results[k]);
    return {};
  });
}

}  // namespace hlo::kernel
