// What a library given to `hlo-run --custom-call-lib` may include and call, in C.
//
// The function of a target has the target's name and, by the api_version of the instruction, one of the types
//   API_VERSION_ORIGINAL
//     void target(void* out, const void** in)
//   API_VERSION_STATUS_RETURNING
//     void target(void* out, const void** in, XlaCustomCallStatus* status)
//   API_VERSION_STATUS_RETURNING_UNIFIED
//     void target(void* out, const void** in, const char* opaque, size_t opaque_len,
//                 XlaCustomCallStatus* status)
// `in` has a pointer for each leaf of the operands, tuples taken apart depth first; that of a token is null.
// `out` is the memory of the result if that is an array, otherwise it points to such pointers. Arrays are
// dense in the order of their layouts: those of operand_layout_constraints, else those written, else
// row-major. Results are zero before the call, or what the operand holds that output_to_operand_aliasing
// names. `opaque` is the text of backend_config. Several simulated devices may call a function at once.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// NOLINTNEXTLINE(modernize-use-using,readability-identifier-naming): C, and a name of XLA's
typedef struct XlaCustomCallStatus_ XlaCustomCallStatus;
/** The call has succeeded; the state before the call. */
void XlaCustomCallStatusSetSuccess(XlaCustomCallStatus* status);
/** The call has failed, and so does the execution, with this message (not kept, need not end in a zero). */
void XlaCustomCallStatusSetFailure(XlaCustomCallStatus* status, const char* message, size_t message_len);

#ifdef __cplusplus
}
#endif
