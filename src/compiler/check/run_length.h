// Runs that nobody waits for: a step or a period that was meant in another unit. Enters: the settings and events of a checked program.
// Leaves: a warning for each of them that makes more than a thousand million steps.
#pragma once

#include "compiler/check/model.h"
#include "diag/sink.h"

namespace check {

// After read_settings and read_events.
void report_long_runs(const Model& model, const base::Names& names, diag::Sink& diags);

}  // namespace check
