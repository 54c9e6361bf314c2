/* Calls functions that hlo-opt made of modules: a layer, a sort and a product with a table of constants that lies in a
   file. No header and no library of the toolkit is needed but libhlo-rt.a, which has its loops.

     hlo-opt --aot=functions --aot-weights dense.hlo ranks.hlo table.hlo
     cc ahead_of_time.c functions.o libhlo-rt.a -lm -pthread
     ./a.out functions.weights */
#define _POSIX_C_SOURCE 200809L /* posix_memalign, where the compiler is told to know C alone */

#include "functions.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 3

/* What helps with loops: here threads that are started for each of them. A program with a pool of threads hands its
   pieces to that. */
struct piece {
  void (*task)(void *what, int i);
  void *what;
  int i;
};

static void *run_piece(void *of) {
  struct piece *piece = of;
  piece->task(piece->what, piece->i);
  return NULL;
}

static void run(void *context, int count, void (*task)(void *what, int i), void *what) {
  struct piece pieces[THREADS];
  pthread_t threads[THREADS];
  ++*(int *)context;
  for (int i = 0; i < count; ++i) pieces[i] = (struct piece){task, what, i};
  for (int i = 1; i < count; ++i) pthread_create(&threads[i], NULL, run_piece, &pieces[i]);
  run_piece(&pieces[0]);
  for (int i = 1; i < count; ++i) pthread_join(threads[i], NULL);
}

/* The archive asks for memory through this alone: it counts, so that the program can tell that calls take none. */
static int allocations;
void *aligned_alloc(size_t alignment, size_t bytes) {
  void *block = NULL;
  ++allocations;
  return posix_memalign(&block, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes) == 0 ? block : NULL;
}

static void check(int right, const char *what) {
  if (right) return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(1);
}

/* Temporary memory belongs to a call: each of these, which may run at once, has its own. */
struct layer {
  _Alignas(DENSE_ALIGN) dense_arg0 x;
  _Alignas(DENSE_ALIGN) dense_arg1 w;
  _Alignas(DENSE_ALIGN) dense_arg2 b;
  _Alignas(DENSE_ALIGN) dense_result0 y;
  void *temp;
  int code;
};

static void *run_layer(void *of) {
  struct layer *layer = of;
  layer->code = dense_typed(&layer->x, &layer->w, &layer->b, &layer->y, layer->temp);
  return NULL;
}

static void run_dense(void) {
  static struct layer layers[2];
  pthread_t threads[2];
  int helped = 0;
  check(dense_typed(&layers[0].x, &layers[0].w, &layers[0].b, &layers[0].y, NULL) == DENSE_NOT_STARTED, "a call before the start");
  check(dense_start(THREADS, run, &helped) == 0, "the start of dense");
  for (int k = 0; k < 2; ++k) {
    for (int i = 0; i < 32; ++i)
      for (int j = 0; j < 64; ++j) layers[k].x[i][j] = (float)((i + j + k) % 5);
    for (int i = 0; i < 64; ++i)
      for (int j = 0; j < 48; ++j) layers[k].w[i][j] = (float)((i * j) % 7 - 3);
    for (int j = 0; j < 48; ++j) layers[k].b[j] = (float)j;
    layers[k].temp = aligned_alloc(DENSE_ALIGN, (DENSE_TEMP_BYTES + DENSE_ALIGN - 1) / DENSE_ALIGN * DENSE_ALIGN);
  }
  allocations = 0;
  for (int k = 0; k < 2; ++k) pthread_create(&threads[k], NULL, run_layer, &layers[k]);
  for (int k = 0; k < 2; ++k) pthread_join(threads[k], NULL);
  check(allocations == 0, "a call of dense takes memory");
  for (int k = 0; k < 2; ++k) {
    check(layers[k].code == 0, "a call of dense");
    for (int i = 0; i < 32; ++i)
      for (int j = 0; j < 48; ++j) {
        float sum = layers[k].b[j];
        for (int n = 0; n < 64; ++n) sum += layers[k].x[i][n] * layers[k].w[n][j];
        check(layers[k].y[i][j] == (sum > 0 ? sum : 0), "a result of dense");
      }
    free(layers[k].temp);
  }
  dense_end();
}

static void run_ranks(void) {
  static _Alignas(RANKS_ALIGN) ranks_arg0 scores;
  static _Alignas(RANKS_ALIGN) ranks_result0 sorted;
  static _Alignas(RANKS_ALIGN) ranks_result1 places;
  int helped = 0;
  for (int i = 0; i < 300; ++i)
    for (int j = 0; j < 1000; ++j) scores[i][j] = (float)((i * 31 + j * 7919) % 1009);
  check(ranks_start(THREADS, run, &helped) == 0, "the start of ranks");
  void *temp = aligned_alloc(RANKS_ALIGN, (RANKS_TEMP_BYTES + RANKS_ALIGN - 1) / RANKS_ALIGN * RANKS_ALIGN);
  allocations = 0;
  check(ranks_typed(&scores, &sorted, &places, temp) == 0, "a call of ranks");
  check(allocations == 0, "a call of ranks takes memory");
  check(helped > 0, "nobody was asked to help with ranks");
  for (int i = 0; i < 300; ++i)
    for (int j = 0; j < 1000; ++j) {
      check(sorted[i][j] == scores[i][places[i][j]], "a place");
      check(j == 0 || sorted[i][j - 1] <= sorted[i][j], "the order");
    }
  free(temp);
  ranks_end();
}

/* A file of weights with a byte that has changed behind its head: only reading it all finds that. */
static void look_at_spoilt(const char *weights) {
  char path[] = "/tmp/weights.XXXXXX";
  FILE *from = fopen(weights, "rb"), *to = fdopen(mkstemp(path), "wb");
  check(from != NULL && to != NULL, "a copy of the weights");
  for (int c = getc(from), place = 0; c != EOF; c = getc(from)) putc(place++ == 1000 ? c ^ 1 : c, to);
  fclose(from);
  fclose(to);
  check(table_start(1, NULL, NULL) == 0, "a start of table");
  check(table_verify_weights() == TABLE_NOT_STARTED, "weights that are not there");
  check(table_map_weights(path) == 0, "the head of a spoilt file");
  check(table_verify_weights() == TABLE_OTHER_WEIGHTS, "a spoilt file");
  table_end();
  remove(path);
}

static void run_table(const char *weights) {
  static _Alignas(TABLE_ALIGN) table_arg0 x;
  static _Alignas(TABLE_ALIGN) table_result0 y;
  for (int i = 0; i < 8; ++i) x[i][2 * i] = 1;
  check(table_start(1, NULL, NULL) == 0, "the start of table");
  void *temp = aligned_alloc(TABLE_ALIGN, (TABLE_TEMP_BYTES + TABLE_ALIGN - 1) / TABLE_ALIGN * TABLE_ALIGN);
  check(table_typed(&x, &y, temp) == TABLE_NOT_STARTED, "a call without weights");
  check(table_map_weights("/dev/null") == TABLE_OTHER_WEIGHTS, "another file");
  check(table_map_weights(weights) == 0, "the file of weights");
  check(table_verify_weights() == 0, "the content of the file");
  check(table_typed(&x, &y, temp) == 0, "a call of table");
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 48; ++j) check(y[i][j] == (float)((2 * i * 7 + j * 3) % 11 - 5), "a row of the table");
  free(temp);
  table_end();
}

int main(int argc, char **argv) {
  check(argc == 2, "usage: ahead_of_time functions.weights");
  run_dense();
  run_ranks();
  look_at_spoilt(argv[1]);
  run_table(argv[1]);
  puts("a layer, a sort and a table, computed ahead of time");
  return 0;
}
