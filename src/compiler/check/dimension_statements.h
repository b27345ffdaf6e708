// What a program's items say about dimensions: declarations, starts, equations, events, behaviours, settings in;
// constraints in the system out. Keeps the units as they are written, for people.
#pragma once

#include <span>

#include "compiler/check/dimension_messages.h"
#include "compiler/check/dimension_system.h"
#include "compiler/check/model.h"
#include "compiler/parse/given.h"
#include "diag/sink.h"

namespace check {

void collect_dimensions(Model& model, base::Names& names, std::span<const parse::Given> given, DimensionSystem& system,
                        ToldPlaces& told, diag::Sink& diags);

}  // namespace check
