// CVODE of SUNDIALS behind a table's `adaptive_step`: a model's table in, one with the same functions and that step
// out, for tk_part and for the batch loop alike. The host's alone: it allocates and does not travel.
//
// Method: BDF of order 1 to 5 with variable steps; Newton with the exact Jacobian by tangents, evaluated anew only when
// convergence asks for it. Dense matrices while they are small; else KLU on the pattern that the table has, one tangent
// a colour. Hindmarsh and others, ACM TOMS 31(3), 2005; Davis and Palamadai Natarajan, ACM TOMS 37(3), 2010.
//
// A step leaves the coefficients of its polynomial in the Instance's scratch, where tk_dense finds them. The method has
// a memory of several steps: it begins anew, at order 1, when the Instance is not where the last step left it or
// first_stage_valid is 0. The kept derivative is the polynomial's, equal to f within the tolerance.
//
// A model with modes has a memory for each structure; a jump leaves the Instance where none of them ended, so the one
// that is entered begins anew.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "abi/model.h"

namespace sim {

class Cvode {
 public:
  // The counts, layout and pattern of `model` are those of all tables that `table` gets.
  explicit Cvode(const tactus_model& model);
  ~Cvode();
  Cvode(const Cvode&) = delete;
  Cvode& operator=(const Cvode&) = delete;

  // `model`, which has tangents and does not change, with CVODE's step: for TACTUS_CVODE alone and one Instance at a
  // time. Valid until the next call.
  const tactus_model* table(const tactus_model* model);
  bool is_sparse() const;

 private:
  class Engine;
  struct Table {
    tactus_model model;
    Engine* engine;
    decltype(tactus_model::adaptive_step)
        other;  // of the model itself: the search for a plan goes by a method of its own
  };
  void fill(std::size_t k, const tactus_model* from);
  static int step(const tactus_model* model, tactus_instance* instance, int solver, double t_end, double h_max,
                  double tolerance);

  std::vector<std::unique_ptr<Engine>> engines_;  // of the model, or of each of its structures
  std::vector<Table> tables_;                     // as many
  std::vector<const tactus_model*> sources_;      // what they are copies of
  std::vector<const tactus_model*> structures_;
  tactus_model whole_ = {};  // with modes
};

}  // namespace sim
