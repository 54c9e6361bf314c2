// Fields of messages that hold plain members, for both directions: Fields(a, value) names each member with
// its field number, and `a` writes or reads it.
#pragma once
#include "ir/module.h"
#include "tools/proto/message.h"
#include "tools/proto/wire.h"

namespace hlo {

template <class T>
void WriteFields(ProtoWriter& out, const T& value);
template <class T>
void ReadFields(ProtoMessage& in, T& value);

/// Writes members into a message.
struct FieldWriter {
  ProtoWriter& out;
  static constexpr bool kReads = false;
  template <class T>
    requires std::is_integral_v<T>
  void operator()(int field, const T& value) {
    out.Number(field, static_cast<int64_t>(value));
  }
  void operator()(int field, double value) { out.Double(field, value); }
  void operator()(int field, llvm::StringRef value) { out.Text(field, value); }
  void operator()(int field, llvm::ArrayRef<int64_t> value) { out.Packed(field, value); }
  /// A message for each element.
  template <class List>
  void Messages(int field, llvm::StringLiteral /*name*/, const List& list) {
    for (const auto& element : list)
      out.Message(field, [&](ProtoWriter& inner) { WriteFields(inner, element); });
  }
};

/// Reads members from a message. Texts are parts of its bytes.
struct FieldReader {
  ProtoMessage& in;
  static constexpr bool kReads = true;
  void operator()(int field, double& value) { value = in.Double(field); }
  void operator()(int field, llvm::StringRef& value) { value = in.Text(field); }
  template <unsigned N>
  void operator()(int field, llvm::SmallVector<int64_t, N>& value) {
    value.clear();
    in.Numbers(field, value);
  }
  template <class T>
    requires std::is_integral_v<T>
  void operator()(int field, T& value) {
    value = static_cast<T>(in.Number(field));
  }
  template <class List>
  void Messages(int field, llvm::StringLiteral name, List& list) {
    list.clear();
    in.ForEach(field, name, [&](ProtoMessage& inner) { ReadFields(inner, list.emplace_back()); });
  }
};

/// Writes the message of a value, or reads it.
template <class T>
void WriteFields(ProtoWriter& out, const T& value) {
  FieldWriter a{out};
  Fields(a, const_cast<T&>(value));
}
template <class T>
void ReadFields(ProtoMessage& in, T& value) {
  FieldReader a{in};
  Fields(a, value);
}

template <class A>
void Fields(A& a, Tile& v) {
  a(1, v.dims);
}
template <class A>
void Fields(A& a, SplitConfig& v) {
  a(1, v.dimension), a(2, v.indices);
}
template <class A>
void Fields(A& a, Layout& v) {
  a(1, v.minor_to_major);
  a.Messages(6, "TileProto", v.tiles);
  a(7, v.element_size_bits), a(8, v.memory_space);
  a(15, v.dynamic_shape_metadata_prefix_bytes), a(16, v.tail_padding_alignment);
  a.Messages(17, "SplitConfigProto", v.split_configs);
}
template <class A>
void Fields(A& a, WindowDim& v) {
  a(1, v.size), a(2, v.stride), a(3, v.pad_low), a(4, v.pad_high), a(5, v.window_dilation);
  a(6, v.base_dilation), a(7, v.reversal);
}
template <class A>
void Fields(A& a, Window& v) {
  a.Messages(1, "WindowDimension", v.dims);
}
template <class A>
void Fields(A& a, ConvDimLabels& v) {
  a(3, v.kernel_input_feature), a(4, v.kernel_output_feature), a(6, v.kernel_spatial), a(7, v.input_batch);
  a(8, v.input_feature), a(9, v.output_batch), a(10, v.output_feature);
  a(11, v.input_spatial), a(12, v.output_spatial);
}
template <class A>
void Fields(A& a, SliceRange& v) {
  a(1, v.start), a(2, v.limit), a(3, v.stride);
}
template <class A>
void Fields(A& a, PaddingDim& v) {
  a(1, v.low), a(2, v.high), a(3, v.interior);
}
template <class A>
void Fields(A& a, OutputOperandAlias& v) {
  a(1, v.output), a(2, v.operand), a(3, v.operand_index);
}
template <class A>
void Fields(A& a, ReplicaGroups::Iota& v) {
  a(1, v.group_count), a(2, v.group_size), a(3, v.devices.reshape_dims), a(4, v.devices.permutation);
}
/// Less `profile_type`, which is a list in the module's memory.
template <class A>
void Fields(A& a, OpMetadata& v) {
  a(1, v.op_type), a(2, v.op_name), a(3, v.source_file), a(4, v.source_line);
  a(12, v.deduplicated_name), a(15, v.stack_frame_id), a(16, v.scheduling_name);
  a(17, v.source_end_line), a(18, v.source_column), a(19, v.source_end_column);
}
template <class A>
void Fields(A& a, Statistic& v) {
  a(1, v.name), a(2, v.value);
}
template <class A>
void Fields(A& a, Statistics& v) {
  a(1, v.visualizing_index);
  a.Messages(2, "Statistic", v.values);
}
/// Less the kind.
template <class A>
void Fields(A& a, InputOutputAlias& v) {
  a(1, v.output), a(2, v.parameter), a(3, v.parameter_index);
}
template <class A>
void Fields(A& a, BufferDonor& v) {
  a(1, v.parameter), a(2, v.index);
}
template <class A>
void Fields(A& a, StackTables::Location& v) {
  a(1, v.file), a(2, v.function), a(3, v.line), a(4, v.column), a(5, v.end_line), a(6, v.end_column);
}
template <class A>
void Fields(A& a, StackTables::Frame& v) {
  a(1, v.location), a(2, v.parent);
}

}  // namespace hlo
