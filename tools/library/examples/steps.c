/* A training loop in C, the line through some points: steps steps.hlo. What is trained stays on the device;
 * steps are asked for without waiting, and each gives its arguments away for its results. */
#include <hlo/hlo_c.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 64, STEPS = 100, STATE = 2 };

/* Says what is wrong, and ends. */
static void Check(HloError* error) {
  if (error == NULL) return;
  fprintf(stderr, "error: %s\n", hlo_error_message(error));
  hlo_error_free(error);
  exit(1);
}

/* An argument of the program, copied to the device. */
static HloBuffer* Argument(const HloClient* client, const HloExecutable* step, int64_t number, float* data) {
  HloArray array = HLO_INIT(HloArray);
  HloBuffer* buffer = NULL;
  Check(hlo_executable_argument(step, number, &array));
  array.data = data;
  Check(hlo_client_buffer(client, &array, 0, &buffer));
  return buffer;
}

int main(int argc, char** argv) {
  char text[1 << 14];
  FILE* file = fopen(argc > 1 ? argv[1] : "steps.hlo", "rb");
  const size_t size = file == NULL ? 0 : fread(text, 1, sizeof text, file);
  if (file != NULL) fclose(file);

  HloModule* module = NULL;
  HloClient* client = NULL;
  HloExecutable* step = NULL;
  Check(hlo_module_parse(text, size, "steps.hlo", &module));
  Check(hlo_client_create(NULL, &client));
  Check(hlo_client_compile(client, module, &step));

  float x[POINTS], y[POINTS], zero = 0;
  for (int i = 0; i < POINTS; ++i) {
    x[i] = 2.0F * (float)i / (float)POINTS - 1.0F;
    y[i] = 2 * x[i] + 1;
  }
  HloBuffer* arguments[] = {Argument(client, step, 0, &zero), Argument(client, step, 1, &zero),
                            Argument(client, step, 2, x), Argument(client, step, 3, y)};
  const int64_t state[STATE] = {0, 1};
  HloRunOptions options = HLO_INIT(HloRunOptions);
  options.donated = state;
  options.donated_count = STATE;
  HloRun* run = NULL;
  for (int i = 0; i < STEPS; ++i) {
    hlo_run_free(run); /* it goes on */
    Check(hlo_executable_start(step, arguments, 4, &options, &run));
    for (int64_t k = 0; k < STATE; ++k) {
      hlo_buffer_free(arguments[k]);
      Check(hlo_run_result(run, 0, k, &arguments[k]));
    }
  }
  Check(hlo_run_wait(run, -1));
  float line[STATE];
  for (int k = 0; k < STATE; ++k) {
    HloArray array = HLO_INIT(HloArray);
    Check(hlo_buffer_shape(arguments[k], &array));
    array.data = &line[k];
    Check(hlo_buffer_read(arguments[k], &array));
  }
  printf("y = %.3f x + %.3f\n", line[0], line[1]);

  for (int k = 0; k < 4; ++k) hlo_buffer_free(arguments[k]);
  hlo_run_free(run);
  hlo_executable_free(step);
  hlo_client_free(client);
  hlo_module_free(module);
  return 0;
}
