// convert-mover: conversions move to where less data is moved (passes.md §2.2).
//
// Requires nothing. Preserves the flat call graph, fusions and layouts.
// Changes: a conversion to a narrower type moves above the data movement whose result it converts, if nobody
// else reads that; conversions to a wider type move below data movement, if all its values are converted from
// one type or are constants that survive the conversion to it and back. Broadcasts of wide values stay, and
// so do conversions of slices. Left alone: control edges, shardings, dynamic shapes, layouts with properties,
// conversions between integers and floats.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunConvertMover(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
