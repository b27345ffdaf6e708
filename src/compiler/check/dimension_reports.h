// Contradictions between dimensions, in the words of the source. A solved system and a constraint that cannot hold in;
// a message with the reasons for both of its sides, back to the literals, out.
#pragma once

#include <cstdint>

#include "compiler/check/dimension_messages.h"
#include "compiler/check/dimension_system.h"
#include "diag/sink.h"

namespace check {

void report_contradiction(const DimensionSystem& system, std::uint32_t constraint, ToldPlaces& told, diag::Sink& diags);

}  // namespace check
