/* The library for programs in C, and for bindings of other languages.
 *
 * Handles are opaque; whoever gets one frees it with the function named hlo_..._free, which takes NULL. A
 * function that can fail returns an error, which the caller frees, or NULL; what it was to make is NULL or
 * zero then. A handle that is NULL where one is needed is such an error, and so is one that was freed (as
 * long as less than 1024 others of its kind were freed since) or that is one of another kind. Texts are
 * pointers and sizes, UTF-8; those that are returned belong to the handle that they were asked of, and end
 * with a 0 that is not counted.
 *
 * Structs begin with their size, for versions that know more fields: HLO_INIT(Type) gives one with defaults.
 * Fields that the library does not know must be 0, or the call is an error; fields that the caller does not
 * know have their defaults.
 *
 * Threads may use handles at the same time, but for: builders; a handle that is being freed; results that a
 * call writes to. Nothing is thrown, and nothing ends the program. */
/* NOLINTBEGIN(modernize-use-using,readability-identifier-naming): C */
#ifndef HLO_C_H_
#define HLO_C_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
template <class T>
T hlo_c_new() {
  T made{};
  made.struct_size = sizeof(T);
  return made;
}
#define HLO_INIT(Type) (hlo_c_new<Type>())
extern "C" {
#else
#define HLO_INIT(Type) {.struct_size = sizeof(Type)}
#endif

/* Grows with every change; functions and fields are only added. What came later than version 1 says so. */
#define HLO_C_VERSION 3
/* That of the library that runs. */
int32_t hlo_c_version(void);

/* --- Errors --- */
typedef enum HloCode {
  HLO_OK = 0,
  HLO_INVALID_ARGUMENT = 1,
  HLO_UNIMPLEMENTED = 2,
  HLO_FAILED_PRECONDITION = 3,
  HLO_INTERNAL = 4,
  HLO_CANCELLED = 5,
  HLO_DEADLINE_EXCEEDED = 6,
  HLO_RESOURCE_EXHAUSTED = 7,
  HLO_ABORTED = 8,
  HLO_UNAVAILABLE = 9
} HloCode;
typedef struct HloError HloError;
/* HLO_OK of NULL. */
HloCode hlo_error_code(const HloError* error);
/* What is wrong; of texts `name:line:column: ` in front. "" of NULL. */
const char* hlo_error_message(const HloError* error);
void hlo_error_free(HloError* error);

/* A text, or bytes, that the library made. */
typedef struct HloText HloText;
const char* hlo_text_data(const HloText* text);
size_t hlo_text_size(const HloText* text);
void hlo_text_free(HloText* text);

/* --- Modules: nothing changes them once they are made --- */
typedef struct HloModule HloModule;
/* Of HLO text that verifies; `name`: of the text, for messages, or NULL. */
HloError* hlo_module_parse(const char* text, size_t size, const char* name, HloModule** module);
/* Version 2. The same of a file's bytes: HLO text, or a protocol buffer HloModuleProto, HloProto or
 * HloSnapshot, also as text or packed by gzip. */
HloError* hlo_module_read(const char* bytes, size_t size, const char* name, HloModule** module);
/* Version 2. The bytes of an HloModuleProto. */
HloError* hlo_module_proto(const HloModule* module, HloText** bytes);
/* As HLO text, constants in full. */
HloError* hlo_module_print(const HloModule* module, HloText** text);
HloError* hlo_module_verify(const HloModule* module);
/* "" of NULL. */
const char* hlo_module_name(const HloModule* module);
void hlo_module_free(HloModule* module);

/* One execution of a pass. */
typedef struct HloPassEvent {
  size_t struct_size;
  const char* pass;
  const char* pipeline; /* names of the lists that it is in, outermost first: `simplify/fix` */
  int64_t number;       /* from 1 on */
  int64_t changed;      /* 0 or 1 */
  int64_t rewrites;
  int64_t instructions_before, instructions_after;
  int64_t nanoseconds;
} HloPassEvent;
typedef struct HloPassOptions {
  size_t struct_size;
  /* Called after every pass, on the thread of the call; 0: no more of them, and HLO_CANCELLED. Or NULL. */
  int (*after_pass)(void* user, const HloPassEvent* event);
  void* user;
  int64_t verify_each; /* 1: the module, after each pass */
} HloPassOptions;
/* The module after a pipeline, `item,item,...` of passes `dce`, pipelines `@simplify`, and `fix(...)` of
 * such. `options` may be NULL. */
HloError* hlo_module_run_passes(const HloModule* module, const char* pipeline, const HloPassOptions* options,
                                HloModule** result);
/* `format`: dot, html, svg, png, pdf. */
HloError* hlo_module_draw(const HloModule* module, const char* format, HloText** picture);

/* How many instructions of two modules correspond. */
typedef struct HloDiff {
  size_t struct_size;
  int64_t equal; /* 0 or 1 */
  int64_t unchanged, moved, changed, removed, added;
} HloDiff;
/* `format` of the report: text, summary, json, side-by-side, dot, html. `report` may be NULL. */
HloError* hlo_module_diff(const HloModule* left, const HloModule* right, const char* format, HloDiff* diff,
                          HloText** report);

/* --- Arrays in the caller's memory --- */
enum { HLO_MAX_RANK = 16 };
typedef struct HloArray {
  size_t struct_size;
  int32_t type; /* number of XLA's PrimitiveType: 11 is f32; hlo_type_number("f32") */
  int32_t rank;
  int64_t dimensions[HLO_MAX_RANK];
  /* Elements row by row; narrower than a byte: one in each. Of an argument they are only read. */
  void* data;
  size_t bytes; /* that there are at `data` */
  /* Version 3. Another order of the elements: which dimension varies fastest, which next, and so on, as many
   * as there are; {0, 1} is column by column. NULL: row by row. */
  const int64_t* minor_to_major;
} HloArray;
/* 0 if there is no such type. */
int32_t hlo_type_number(const char* name);
/* Bytes of an array's elements; -1 if it is none that can be. */
int64_t hlo_array_bytes(const HloArray* array);

/* An element may differ by one of `abs` and `rel`, which are at least 0; of all that differ the largest
 * differences. */
typedef struct HloComparison {
  size_t struct_size;
  int64_t matched; /* 0 or 1 */
  int64_t elements, mismatches;
  double max_abs, max_rel;
} HloComparison;
HloError* hlo_array_compare(const HloArray* actual, const HloArray* expected, double abs, double rel,
                            HloComparison* comparison);

/* --- Building modules --- */
typedef struct HloBuilder HloBuilder;
typedef int64_t HloValue; /* of one builder */
/* What HLO text cannot have in names becomes `_`, here and below. */
HloError* hlo_builder_create(const char* name, HloBuilder** builder);
/* `shape` as HLO text, `f32[2,3]`; `name`: NULL for one that nobody else has. */
HloError* hlo_builder_parameter(HloBuilder* builder, int64_t number, const char* shape, const char* name,
                                HloValue* value);
HloError* hlo_builder_constant(HloBuilder* builder, const HloArray* array, HloValue* value);
/* Makes a module's entry, with all that it calls, a computation that `attributes` can name. */
HloError* hlo_builder_computation(HloBuilder* builder, const char* name, const HloModule* module);
/* An instruction as HLO text has it: `opcode(operands), attributes`, an opcode alone, as in `reduce`.
 * `shape`: NULL where it follows from the operands; `attributes`: NULL or `dimensions={0}, to_apply=add`. */
HloError* hlo_builder_add(HloBuilder* builder, const char* opcode, const HloValue* operands, size_t count,
                          const char* shape, const char* attributes, HloValue* value);
/* The shape of a value, as HLO text. */
HloError* hlo_builder_shape(const HloBuilder* builder, HloValue value, HloText** shape);
/* The module that returns `root`; the builder may go on. */
HloError* hlo_builder_build(const HloBuilder* builder, HloValue root, HloModule** module);
void hlo_builder_free(HloBuilder* builder);

/* --- Clients --- */
typedef struct HloClient HloClient;
typedef struct HloClientOptions {
  size_t struct_size;
  const char* platform; /* cpu, interpreter, gpu, gpu-emu; NULL: cpu */
  int64_t threads;      /* 0: those of the process */
  int64_t no_cache;     /* 1: nothing is kept on disk */
  const char* cache_folder;
  int64_t memory_limit;           /* bytes of all runs together; 0: what the machine has */
  int64_t time_limit_ms;          /* of each compilation and run; 0: none */
  const uint64_t* seed;           /* of random numbers; NULL: 42 */
  const char* optimization_level; /* "0" to "3"; NULL: "2" */
  const char* gpu_target;         /* a100, h100, h200, b200, query or a file; NULL: h100 */
  /* Version 3. Of all processes together, which have equally many each, in order; 0: one in each. */
  int64_t device_count;
  /* threads: all devices are in this process; mpi: in those of mpirun or srun; auto: in these, or in those
   * that come to a coordinator. NULL: threads. */
  const char* launcher;
  const char* coordinator;                      /* HOST:PORT, where the first process listens; or NULL */
  const int64_t *process_index, *process_count; /* NULL: what MPI or Slurm say */
} HloClientOptions;
/* `options` may be NULL. */
HloError* hlo_client_create(const HloClientOptions* options, HloClient** client);
/* 1 stops all that the client does: runs give HLO_CANCELLED, until 0 is given. */
HloError* hlo_client_cancel(HloClient* client, int cancel);
/* Programs that were compiled stay, and buffers. */
void hlo_client_free(HloClient* client);

/* Version 3, to the end of this part. -1 of what is no client. */
int64_t hlo_client_device_count(const HloClient* client);
/* Of this process. */
int64_t hlo_client_process_index(const HloClient* client);
/* The process that has a device; -1 if there is no such device. */
int64_t hlo_client_process_of(const HloClient* client, int64_t device);

/* A value for the infeeds of a device, in order: programs wait for it. `shape` as HLO text, a tuple's, whose
 * arrays these are; NULL: one array. The memory is copied. */
HloError* hlo_client_infeed(const HloClient* client, int64_t device, const char* shape,
                            const HloArray* arrays, size_t count);
/* The next value that an outfeed of the device gave, of that shape: waits for it. If it is of another shape
 * it stays. */
HloError* hlo_client_outfeed(const HloClient* client, int64_t device, const char* shape, HloArray* arrays,
                             size_t count);
/* A number for channel_id whose send and recv may be in two programs of this client, and in two processes:
 * all of them ask for their channels in the same order. */
HloError* hlo_client_channel(const HloClient* client, int64_t* channel);

/* --- Compiling and running --- */
typedef struct HloExecutable HloExecutable;
HloError* hlo_client_compile(const HloClient* client, const HloModule* module, HloExecutable** executable);
/* Version 3. What runs on which devices, and how it is compiled. */
typedef struct HloCompileOptions {
  size_t struct_size;
  int64_t replica_count, partition_count; /* 0: 1 */
  /* The device of replica r and partition p is number r * partition_count + p of these; NULL: the first ones.
   * Where they are given, device d of a client for gpu is GPU d, of one for gpu-emu an emulated GPU of its
   * own.
   */
  const int64_t* device_assignment;
  size_t device_assignment_count;
  /* Shapes as HLO text, with the layouts that parameters and the result have; NULL: those of the module. */
  const char* const* parameter_shapes;
  size_t parameter_shapes_count;
  const char* result_shape;
  const char* optimization_level; /* "0" to "3"; NULL: the client's */
} HloCompileOptions;
/* Version 3. `options` may be NULL. */
HloError* hlo_client_compile_with(const HloClient* client, const HloModule* module,
                                  const HloCompileOptions* options, HloExecutable** executable);
/* What hlo_executable_serialize() gave. Runs code that is in the bytes: take them from whom you trust only.
 */
HloError* hlo_client_load(const HloClient* client, const char* bytes, size_t size,
                          HloExecutable** executable);
HloError* hlo_executable_serialize(const HloExecutable* executable, HloText** bytes);
/* Arrays that go in and out of a device, tuples taken apart. -1 of what is no executable. */
int64_t hlo_executable_argument_count(const HloExecutable* executable);
int64_t hlo_executable_result_count(const HloExecutable* executable);
/* Type, rank and dimensions (of dynamic ones the largest), and how many bytes there must be at `data`, which
 * is NULL. */
HloError* hlo_executable_argument(const HloExecutable* executable, int64_t number, HloArray* array);
HloError* hlo_executable_result(const HloExecutable* executable, int64_t number, HloArray* array);
/* Version 3. Replicas times partitions, and the client's number of one of them. -1 of what there is not. */
int64_t hlo_executable_device_count(const HloExecutable* executable);
int64_t hlo_executable_device(const HloExecutable* executable, int64_t number);
/* Runs, waits, and writes the results to where their `data` are, with the dimensions that they have; their
 * `type` and `rank` are to be what hlo_executable_result() says.
 * Arguments are used where they are. Of a program of several devices (version 3): arrays of the first device,
 * then those of the next, and so on; those of devices of other processes are not looked at. */
HloError* hlo_executable_execute(const HloExecutable* executable, const HloArray* arguments,
                                 size_t arguments_count, HloArray* results, size_t results_count);
void hlo_executable_free(HloExecutable* executable);

/* --- Arrays on devices. Version 3 --- */
/* A handle; several may be for one array, which goes with the last that uses it. It can be used before it has
 * been made: what uses it waits. */
typedef struct HloBuffer HloBuffer;
/* Copies the array. */
HloError* hlo_client_buffer(const HloClient* client, const HloArray* array, int64_t device,
                            HloBuffer** buffer);
/* As hlo_executable_result() describes one. Does not wait. */
HloError* hlo_buffer_shape(const HloBuffer* buffer, HloArray* array);
/* The client's number; -1 of what is no buffer. */
int64_t hlo_buffer_device(const HloBuffer* buffer);
/* Whether waiting for it would cost no time: 0 or 1; of what is no buffer 1. */
int hlo_buffer_is_ready(const HloBuffer* buffer);
/* Waits so long at most, then HLO_DEADLINE_EXCEEDED; -1: until it is there. Errors of the run that was to
 * make it, too; HLO_FAILED_PRECONDITION, if it was donated. */
HloError* hlo_buffer_wait(const HloBuffer* buffer, int64_t milliseconds);
/* Waits, and writes the array to where `data` is, with its dimensions; `type` and `rank` are to be those of
 * hlo_buffer_shape(). */
HloError* hlo_buffer_read(const HloBuffer* buffer, HloArray* array);
void hlo_buffer_free(HloBuffer* buffer);

/* --- Runs on buffers. Version 3 --- */
typedef struct HloRunOptions {
  size_t struct_size;
  /* Numbers of arguments of a device, whose buffers are the run's from now on, for its results: nobody may
   * use them any more. Of a parameter that is a tuple all or none. */
  const int64_t* donated;
  size_t donated_count;
  const uint64_t* seed; /* in place of the client's, or NULL */
} HloRunOptions;
/* Runs on one device and waits. `results`: as many places for handles as the program has results. `options`
 * may be NULL. */
HloError* hlo_executable_run(const HloExecutable* executable, HloBuffer* const* arguments,
                             size_t arguments_count, const HloRunOptions* options, HloBuffer** results,
                             size_t results_count);
/* A run that may be under way. It goes on when its handle is freed. */
typedef struct HloRun HloRun;
/* Returns at once. Many may be under way; they begin in the order in which they are asked for. Arguments by
 * device, as hlo_executable_execute() has them; of devices of other processes they may be NULL. */
HloError* hlo_executable_start(const HloExecutable* executable, HloBuffer* const* arguments,
                               size_t arguments_count, const HloRunOptions* options, HloRun** run);
/* Of a device of the program; without waiting. */
HloError* hlo_run_result(const HloRun* run, int64_t device, int64_t number, HloBuffer** buffer);
/* 0 or 1; of what is no run 1. */
int hlo_run_is_ready(const HloRun* run);
/* Waits so long at most, then HLO_DEADLINE_EXCEEDED, and it goes on; -1: until its end. Errors of the run,
 * and of what makes its arguments, too. */
HloError* hlo_run_wait(const HloRun* run, int64_t milliseconds);
/* Asks it to stop: it gives HLO_CANCELLED, unless it is over before. */
HloError* hlo_run_cancel(HloRun* run);
void hlo_run_free(HloRun* run);

/* --- What it costs. Version 3 --- */
/* Bytes that a run takes on each device. */
typedef struct HloMemory {
  size_t struct_size;
  int64_t arguments, results, temporaries, constants;
  int64_t aliased; /* of results, in the memory of arguments */
  int64_t peak;
} HloMemory;
/* HLO_UNIMPLEMENTED where the platform does not plan it. `format` of the report: text, json. `memory` and
 * `report` may be NULL. */
HloError* hlo_executable_memory(const HloExecutable* executable, HloMemory* memory, const char* format,
                                HloText** report);
/* Runs some times on one device, and says which instructions the time went to. */
HloError* hlo_executable_profile(const HloExecutable* executable, const HloArray* arguments,
                                 size_t arguments_count, int64_t runs, const char* format, HloText** report);
/* The module that is run, as HLO text; large constants are left out. */
HloError* hlo_executable_text(const HloExecutable* executable, HloText** text);

#ifdef __cplusplus
}
#endif

#endif /* HLO_C_H_ */
/* NOLINTEND(modernize-use-using,readability-identifier-naming) */
