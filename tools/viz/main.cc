#include "tools/common/process.h"

int main(int argc, char** argv) { return hlo::RunToolProcess(hlo::HloVizMain, argc, argv); }
