// The scene: what each drawing takes, and whether a program's drawings are so. The tree's drawings in; Model::drawings out,
// as the model table names them.
//
//   sphere  at p radius r color "red"         box    at p size s rotation R color "red"
//   spring  from a to b radius r color ..     arrow  at p along v scale s color ..          .. : the table in drawings.cpp
#pragma once

#include "compiler/check/expression_shapes.h"
#include "compiler/check/model.h"
#include "compiler/table/files.h"
#include "diag/sink.h"

namespace check {

// Kinds, options, texts and names. Behind `find_roles`: a scene makes no variables.
void read_drawings(Model& model, base::Names& names, const table::Files& files, diag::Sink& diags);

// Behind the inference of all shapes; sets Model::dimensions.
void check_drawn_shapes(Model& model, const base::Names& names, ExpressionShapes& shapes, diag::Sink& diags);

// Whether an option is a place or a length of the picture, so that all of one drawing are measured alike.
[[nodiscard]] bool is_length(std::string_view option);

}  // namespace check
