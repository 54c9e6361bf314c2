/* Runs a multilayer perceptron from HLO text on the caller's memory: mlp mlp.hlo */
#include <hlo/hlo_c.h>
#include <stdio.h>
#include <stdlib.h>

/* Says what is wrong, and ends. */
static void Check(HloError* error) {
  if (error == NULL) return;
  fprintf(stderr, "error: %s\n", hlo_error_message(error));
  hlo_error_free(error);
  exit(1);
}

/* The whole file; its size in `size`. */
static char* ReadFile(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    exit(1);
  }
  char* text = malloc(1 << 16);
  *size = text == NULL ? 0 : fread(text, 1, 1 << 16, file);
  fclose(file);
  return text;
}

int main(int argc, char** argv) {
  size_t size = 0;
  char* text = ReadFile(argc > 1 ? argv[1] : "mlp.hlo", &size);

  HloModule* module = NULL;
  HloClient* client = NULL;
  HloExecutable* mlp = NULL;
  Check(hlo_module_parse(text, size, argc > 1 ? argv[1] : "mlp.hlo", &module));
  Check(hlo_client_create(NULL, &client));
  Check(hlo_client_compile(client, module, &mlp));

  /* Numbers for as many arguments as there are: 0.01, 0.02, ... */
  HloArray arguments[8], result = HLO_INIT(HloArray);
  const int64_t count = hlo_executable_argument_count(mlp);
  for (int64_t i = 0; i < count && i < 8; ++i) {
    arguments[i] = (HloArray)HLO_INIT(HloArray);
    Check(hlo_executable_argument(mlp, i, &arguments[i]));
    float* numbers = arguments[i].data = malloc(arguments[i].bytes);
    for (size_t k = 0; k < arguments[i].bytes / sizeof(float); ++k) numbers[k] = 0.01F * (float)(k + 1);
  }
  Check(hlo_executable_result(mlp, 0, &result));
  float* classes = result.data = malloc(result.bytes);
  Check(hlo_executable_execute(mlp, arguments, (size_t)count, &result, 1));
  for (size_t k = 0; k < result.bytes / sizeof(float); ++k) printf("%.4f ", classes[k]);
  printf("\n");

  for (int64_t i = 0; i < count && i < 8; ++i) free(arguments[i].data);
  free(classes);
  free(text);
  hlo_executable_free(mlp);
  hlo_client_free(client);
  hlo_module_free(module);
  return 0;
}
