// The program of the four tools: all of it is a function, which the shared library has as well.
#include "tools/program.h"

int main(int argc, char** argv) { return hlo_program(argc, argv); }
