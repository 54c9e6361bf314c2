// What tests of hlo/hlo_c.h share.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hlo/hlo_c.h"

namespace hlo_c_test {

/// What an error says, "" if there is none.
inline std::string Said(HloError* error) {
  std::string text = hlo_error_message(error);
  EXPECT_EQ(hlo_error_code(error) == HLO_OK, error == nullptr);
  hlo_error_free(error);
  return text;
}
inline HloCode Code(HloError* error) {
  const HloCode code = hlo_error_code(error);
  hlo_error_free(error);
  return code;
}

inline std::string Taken(HloText* text) {
  std::string taken(hlo_text_data(text), hlo_text_size(text));
  hlo_text_free(text);
  return taken;
}

inline HloModule* Parsed(const std::string& text) {
  HloModule* module = nullptr;
  EXPECT_EQ(Said(hlo_module_parse(text.data(), text.size(), "test.hlo", &module)), "");
  return module;
}

inline std::string Printed(const HloModule* module) {
  HloText* text = nullptr;
  EXPECT_EQ(Said(hlo_module_print(module, &text)), "");
  return Taken(text);
}

/// A struct of the interface with its defaults.
template <class T>
HloArray ArrayOf(const char* type, std::vector<int64_t> sizes, std::vector<T>& values) {
  HloArray array = HLO_INIT(HloArray);
  array.type = hlo_type_number(type);
  array.rank = static_cast<int32_t>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), array.dimensions);
  array.data = values.data();
  array.bytes = values.size() * sizeof(T);
  return array;
}
template <class T>
HloArray ArrayOf(const char* type, std::vector<T>& values) {
  return ArrayOf(type, {static_cast<int64_t>(values.size())}, values);
}

/// A client, and programs compiled for it; all end with it.
class Session {
 public:
  explicit Session(HloClientOptions options = HLO_INIT(HloClientOptions)) {
    options.no_cache = 1;
    EXPECT_EQ(Said(hlo_client_create(&options, &client_)), "");
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    for (HloExecutable* program : programs_) hlo_executable_free(program);
    for (HloBuffer* buffer : buffers_) hlo_buffer_free(buffer);
    for (HloRun* run : runs_) hlo_run_free(run);
    hlo_client_free(client_);
  }
  [[nodiscard]] HloClient* client() const { return client_; }

  HloExecutable* Compile(const std::string& text, const HloCompileOptions* options = nullptr) {
    HloModule* module = Parsed(text);
    HloExecutable* program = nullptr;
    EXPECT_EQ(Said(hlo_client_compile_with(client_, module, options, &program)), "");
    hlo_module_free(module);
    programs_.push_back(program);
    return program;
  }
  /// An array on a device.
  HloBuffer* Put(std::vector<float> values, int64_t device = 0) {
    const HloArray array = ArrayOf("f32", values);
    HloBuffer* buffer = nullptr;
    EXPECT_EQ(Said(hlo_client_buffer(client_, &array, device, &buffer)), "");
    return Keep(buffer);
  }
  HloBuffer* Keep(HloBuffer* buffer) {
    buffers_.push_back(buffer);
    return buffer;
  }
  /// A run on the buffers.
  HloRun* Start(const HloExecutable* program, std::vector<HloBuffer*> arguments,
                const HloRunOptions* options = nullptr) {
    HloRun* run = nullptr;
    EXPECT_EQ(Said(hlo_executable_start(program, arguments.data(), arguments.size(), options, &run)), "");
    runs_.push_back(run);
    return run;
  }
  HloBuffer* Result(const HloRun* run, int64_t device = 0, int64_t number = 0) {
    HloBuffer* buffer = nullptr;
    EXPECT_EQ(Said(hlo_run_result(run, device, number, &buffer)), "");
    return Keep(buffer);
  }

 private:
  HloClient* client_ = nullptr;
  std::vector<HloExecutable*> programs_;
  std::vector<HloBuffer*> buffers_;
  std::vector<HloRun*> runs_;
};

/// The floats of a buffer.
inline std::vector<float> Read(const HloBuffer* buffer) {
  HloArray array = HLO_INIT(HloArray);
  EXPECT_EQ(Said(hlo_buffer_shape(buffer, &array)), "");
  std::vector<float> values(array.bytes / sizeof(float));
  array.data = values.data();
  EXPECT_EQ(Said(hlo_buffer_read(buffer, &array)), "");
  return values;
}

/// A client for a platform with some devices.
inline HloClientOptions OptionsFor(const char* platform, int64_t devices = 1) {
  HloClientOptions options = HLO_INIT(HloClientOptions);
  options.platform = platform;
  options.device_count = devices;
  return options;
}

inline constexpr const char* kTwice = R"(HloModule twice
ENTRY twice { x = f32[3] parameter(0)  ROOT s = f32[3] add(x, x) }
)";

inline constexpr const char* kEndless = R"(HloModule endless
condition { i = s32[] parameter(0)  zero = s32[] constant(0)  ROOT go = pred[] compare(i, zero), direction=GE }
body { i = s32[] parameter(0)  s = s32[] add(i, i)  one = s32[] constant(1)  ROOT n = s32[] and(s, one) }
ENTRY endless { i = s32[] parameter(0)  ROOT w = s32[] while(i), condition=condition, body=body }
)";

}  // namespace hlo_c_test
