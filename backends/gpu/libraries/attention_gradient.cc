#include "backends/gpu/libraries/attention_gradient.h"

namespace hlo::gpu {

llvm::SmallVector<const View*, 10> LibraryAttentionGradient::Tensors() const {
  llvm::SmallVector<const View*, 10> all = {&attention.queries, &attention.keys, &attention.values,
                                            &attention.result,  &result,         &attention.statistics,
                                            &queries,           &keys,           &values};
  if (!attention.bias.dims.empty()) all.push_back(&attention.bias);
  return all;
}

std::string ToString(const LibraryAttentionGradient& gradient, const Instruction& call) {
  std::string text = "gradients of " + ToString(gradient.attention, call);
  llvm::raw_string_ostream os(text);
  const auto print = [&](llvm::StringRef name, const View& view) {
    os << ", " << name << ' ';
    PrintView(os, view, call);
  };
  print("dO", gradient.result);
  print("dQ", gradient.queries);
  print("dK", gradient.keys);
  print("dV", gradient.values);
  return text;
}

}  // namespace hlo::gpu
