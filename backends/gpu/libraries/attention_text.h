// What calls of attention, and of its gradients, say of themselves.
#pragma once
#include "backends/gpu/libraries/attention_gradient.h"

namespace hlo::gpu {

/// The frontend attribute of such a call: its arrays are operands of the call, or parts of its result.
constexpr llvm::StringLiteral kAttentionAttribute = "attention";
std::string ToText(const LibraryAttention& attention);
std::string ToText(const LibraryAttentionGradient& gradient);
/// A call that says it is an attention, or makes the gradients of one.
bool IsAttentionCall(const Instruction& inst);
bool HasGradients(const Instruction& inst);
/// What such a call calls.
bool IsInAttention(const Computation& computation);
/// What such a call says, whose arrays are large enough for it. Declines other texts.
Result<LibraryAttention> AttentionOf(const Instruction& call);
Result<LibraryAttentionGradient> GradientOf(const Instruction& call);
/// The frontend attribute of powers that are in products of gradients which no library does: why.
constexpr llvm::StringLiteral kWhyNoGradients = "attention_gradients_declined";
/// What powers within a kernel say of that; empty: nothing.
llvm::StringRef WhyNoGradients(const Instruction& kernel);

}  // namespace hlo::gpu
