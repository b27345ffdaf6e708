#include "runtime/sim/cvode.h"

#include <cvode/cvode.h>
#include <cvode/cvode_proj.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <vector>

#include "base/check.h"
#include "kernel/kernel.h"
#include "kernel/sections.h"

namespace sim {

namespace {

// Below this many states a dense factorisation costs less than KLU's bookkeeping, and above it less only for a matrix
// with more entries than a quarter.
constexpr std::uint32_t dense_states = 50;

// Where Newton's method failed, the Jacobian is made anew in each of so many steps that follow: with an old one, CVODE
// may take a sum of corrections that shrink for an answer, and step over the end of a motion such as x' = -1 / (2 x).
constexpr int careful_steps = 50;
constexpr long usual_setup_every = 20, usual_jacobian_every = 51;  // steps; CVODE's own
// Even then it fails in a quarter of so many steps: there is no motion to follow.
constexpr int watched_steps = 1000;
constexpr long most_turns = 250;

}  // namespace

class Cvode::Engine {
 public:
  explicit Engine(const tactus_model& model);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  int step(const tactus_model* model, tactus_instance* instance, double t_end, double h_max, double tolerance);
  bool is_sparse() const { return is_sparse_; }

 private:
  static int derivative(realtype t, N_Vector y, N_Vector dy, void* me) {
    return static_cast<Engine*>(me)->derivative(t, N_VGetArrayPointer(y), N_VGetArrayPointer(dy));
  }
  static int jacobian(realtype t, N_Vector y, N_Vector, SUNMatrix matrix, void* me, N_Vector, N_Vector, N_Vector) {
    return static_cast<Engine*>(me)->jacobian(t, N_VGetArrayPointer(y), matrix);
  }
  // What puts y back onto the constraints.
  static int project(realtype t, N_Vector y, N_Vector correction, realtype, N_Vector, void* me) {
    return static_cast<Engine*>(me)->project(t, N_VGetArrayPointer(y), N_VGetArrayPointer(correction));
  }
  int project(double t, const double* x, double* correction);
  int derivative(double t, const double* x, double* dx);
  int jacobian(double t, const double* x, SUNMatrix matrix);
  void begin(double h_max, double tolerance);
  int failure(int flag) const;
  bool still_moves(long turns);

  std::uint32_t n_;
  bool is_sparse_ = false;
  // CSC with a full diagonal; places_[e]: of entry e of the model's pattern.
  std::vector<sunindextype> starts_, rows_, places_;

  SUNContext context_ = nullptr;
  N_Vector y_ = nullptr;
  N_Vector derivative_of_y_ = nullptr;
  SUNMatrix matrix_ = nullptr;
  SUNLinearSolver solver_ = nullptr;
  void* memory_ = nullptr;
  bool is_initialised_ = false;

  // During a step.
  const tactus_model* model_ = nullptr;
  tactus_instance* instance_ = nullptr;
  int model_status_ = TACTUS_OK;  // of the last evaluation

  // Where the last step ended, and with what settings.
  bool has_memory_ = false;
  double time_ = 0;
  double tolerance_ = 0;
  double h_max_ = -1;
  std::vector<double> last_;
  std::vector<double> direction_, result_;

  int careful_ = 0;  // steps to come
  int watched_ = 0;  // steps
  long turns_ = 0;   // of Newton's method in them
};

Cvode::Engine::Engine(const tactus_model& model)
    : n_(model.state_count), last_(n_), direction_(tactus_direction_size(&model)), result_(n_) {
  if (n_ == 0) return;  // SUNDIALS makes no empty matrix; `step` only moves the time
  TACTUS_CHECK(SUNContext_Create(nullptr, &context_) == 0);
  y_ = N_VNew_Serial(n_, context_);
  derivative_of_y_ = N_VNew_Serial(n_, context_);
  const tactus_pattern& pattern = model.jacobian;
  if (pattern.start != nullptr && n_ > dense_states) {
    starts_ = {0};
    for (std::uint32_t j = 0; j < n_; ++j) {
      bool has_diagonal = false;
      auto diagonal = [&] {
        if (!has_diagonal) rows_.push_back(j);
        has_diagonal = true;
      };
      for (std::uint32_t e = pattern.start[j]; e < pattern.start[j + 1]; ++e) {
        if (pattern.index[e] > j) diagonal();
        places_.push_back(static_cast<sunindextype>(rows_.size()));
        rows_.push_back(pattern.index[e]);
        if (pattern.index[e] == j) has_diagonal = true;
      }
      diagonal();
      starts_.push_back(static_cast<sunindextype>(rows_.size()));
    }
    is_sparse_ = static_cast<double>(rows_.size()) < 0.25 * n_ * n_;
  }
  if (is_sparse_) {
    matrix_ = SUNSparseMatrix(n_, n_, static_cast<sunindextype>(rows_.size()), CSC_MAT, context_);
    if (!matrix_) throw std::bad_alloc();
    solver_ = SUNLinSol_KLU(y_, matrix_, context_);
  } else {
    matrix_ = SUNDenseMatrix(n_, n_, context_);
    if (!matrix_) throw std::bad_alloc();
    solver_ = SUNLinSol_Dense(y_, matrix_, context_);
  }
  memory_ = CVodeCreate(CV_BDF, context_);
  TACTUS_CHECK(y_ && derivative_of_y_ && matrix_ && solver_ && memory_);
  // What goes wrong comes back as a number; nothing is printed.
  CVodeSetErrHandlerFn(memory_, [](int, const char*, const char*, char*, void*) {}, nullptr);
}

Cvode::Engine::~Engine() {
  if (memory_) CVodeFree(&memory_);
  if (solver_) SUNLinSolFree(solver_);
  if (matrix_) SUNMatDestroy(matrix_);
  if (derivative_of_y_) N_VDestroy(derivative_of_y_);
  if (y_) N_VDestroy(y_);
  if (context_) SUNContext_Free(&context_);
}

// A failure of the model counts as one of the step's length: CVODE tries a shorter one.
int Cvode::Engine::derivative(double t, const double* x, double* dx) {
  model_status_ = model_->derivative(model_, instance_, t, x, dx);
  if (model_status_ == TACTUS_OK && tk_first_not_finite(n_, dx) >= 0) model_status_ = TACTUS_NOT_FINITE;
  return model_status_ == TACTUS_OK ? 0 : 1;
}

int Cvode::Engine::jacobian(double t, const double* x, SUNMatrix matrix) {
  realtype* data = nullptr;
  if (is_sparse_) {
    data = SUNSparseMatrix_Data(matrix);
    std::copy(starts_.begin(), starts_.end(), SUNSparseMatrix_IndexPointers(matrix));
    std::copy(rows_.begin(), rows_.end(), SUNSparseMatrix_IndexValues(matrix));
    std::fill_n(data, rows_.size(), 0.0);
  } else {
    data = SUNDenseMatrix_Data(matrix);
    std::fill_n(data, std::size_t{n_} * n_, 0.0);
  }
  const tactus_pattern& pattern = model_->jacobian;
  const bool has_pattern = pattern.start != nullptr && model_->colours != nullptr;
  double* const states = direction_.data() + tactus_direction_states(model_);
  const std::uint32_t count = has_pattern ? model_->colour_count : n_;
  for (std::uint32_t colour = 0; colour < count; ++colour) {
    for (std::uint32_t j = 0; j < n_; ++j) states[j] = (has_pattern ? model_->colours[j] : j) == colour ? 1 : 0;
    model_status_ = model_->tangent(model_, instance_, TACTUS_OF_DERIVATIVE, t, x, direction_.data(), result_.data());
    if (model_status_ == TACTUS_OK && tk_first_not_finite(n_, result_.data()) >= 0) model_status_ = TACTUS_NOT_FINITE;
    if (model_status_ != TACTUS_OK) return 1;
    if (!has_pattern) {
      std::copy(result_.begin(), result_.end(), data + std::size_t{n_} * colour);
      continue;
    }
    for (std::uint32_t j = 0; j < n_; ++j) {
      if (model_->colours[j] != colour) continue;
      for (std::uint32_t e = pattern.start[j]; e < pattern.start[j + 1]; ++e) {
        const std::uint32_t i = pattern.index[e];
        data[is_sparse_ ? static_cast<std::size_t>(places_[e]) : std::size_t{n_} * j + i] = result_[i];
      }
    }
  }
  return 0;
}

int Cvode::Engine::project(double t, const double* x, double* correction) {
  std::copy_n(x, n_, result_.data());
  const auto is_valid = instance_->first_stage_valid;
  const int status = tk_project(model_, instance_, t, result_.data(), TK_ADAPTIVE_PROJECTIONS, 0.0);
  instance_->first_stage_valid = is_valid;
  if (status != TACTUS_OK) return 1;  // a shorter step may succeed
  for (std::uint32_t i = 0; i < n_; ++i) correction[i] = result_[i] - x[i];
  return 0;
}

// At the Instance's time and state, without a memory.
void Cvode::Engine::begin(double h_max, double tolerance) {
  const double* x = tk_states(model_, instance_);
  std::copy_n(x, n_, N_VGetArrayPointer(y_));
  if (!is_initialised_) {
    TACTUS_CHECK(CVodeInit(memory_, derivative, instance_->time, y_) == CV_SUCCESS);
    CVodeSStolerances(memory_, tolerance, tolerance);
    CVodeSetUserData(memory_, this);
    CVodeSetLinearSolver(memory_, solver_, matrix_);
    CVodeSetJacFn(memory_, jacobian);
    CVodeSetMaxHnilWarns(memory_, -1);
    if (model_->constraint_count > 0) {
      CVodeSetProjFn(memory_, project);
      CVodeSetProjErrEst(memory_, SUNFALSE);
    }
    is_initialised_ = true;
  } else {
    TACTUS_CHECK(CVodeReInit(memory_, instance_->time, y_) == CV_SUCCESS);
  }
  if (tolerance != tolerance_) CVodeSStolerances(memory_, tolerance, tolerance);
  if (h_max != h_max_) CVodeSetMaxStep(memory_, std::max(h_max, 0.0));
  tolerance_ = tolerance;
  h_max_ = h_max;
  has_memory_ = true;
}

int Cvode::Engine::failure(int flag) const {
  switch (flag) {
    case CV_RHSFUNC_FAIL:
    case CV_FIRST_RHSFUNC_ERR:
    case CV_REPTD_RHSFUNC_ERR:
    case CV_UNREC_RHSFUNC_ERR:
    case CV_LSETUP_FAIL:
    case CV_CONV_FAILURE:
      return model_status_ != TACTUS_OK ? model_status_ : TACTUS_STEP_TOO_SMALL;
    default:
      return TACTUS_STEP_TOO_SMALL;
  }
}

// After a step in which Newton's method failed so often.
bool Cvode::Engine::still_moves(long turns) {
  if (turns > 0) {
    if (careful_ == 0) {
      CVodeSetLSetupFrequency(memory_, 1);
      CVodeSetJacEvalFrequency(memory_, 1);
    }
    careful_ = careful_steps;
  } else if (careful_ > 0 && --careful_ == 0) {
    CVodeSetLSetupFrequency(memory_, usual_setup_every);
    CVodeSetJacEvalFrequency(memory_, usual_jacobian_every);
  }
  turns_ += turns;
  if (++watched_ < watched_steps) return true;
  const bool moves = turns_ < most_turns;
  watched_ = 0;
  turns_ = 0;
  return moves;
}

int Cvode::Engine::step(const tactus_model* model, tactus_instance* instance, double t_end, double h_max,
                        double tolerance) {
  model_ = model;
  instance_ = instance;
  model_status_ = TACTUS_OK;
  const double from = instance->time;
  double* const x = tk_states(model, instance);
  tk_clear_failure(instance);
  if (!(t_end > from)) return TACTUS_OK;
  instance->dense_step = 0;
  if (n_ == 0) {
    instance->time = t_end;
    instance->steps++;
    return TACTUS_OK;
  }
  if (!model->tangent) return tk_fail(instance, TACTUS_NO_SOLVER, -1);
  const bool is_where_it_was = has_memory_ && instance->first_stage_valid != 0 && from == time_ &&
                               tolerance == tolerance_ && std::memcmp(x, last_.data(), n_ * sizeof(double)) == 0;
  if (!is_where_it_was) begin(h_max, tolerance);
  if (h_max != h_max_) {
    CVodeSetMaxStep(memory_, std::max(h_max, 0.0));
    h_max_ = h_max;
  }
  long int failures_before = 0;
  long int turns_before = 0;
  CVodeGetNumErrTestFails(memory_, &failures_before);
  CVodeGetNumNonlinSolvConvFails(memory_, &turns_before);
  if (!is_where_it_was) failures_before = turns_before = 0;  // counted from here on

  CVodeSetStopTime(memory_, t_end);
  realtype reached = from;
  const int flag = CVode(memory_, t_end, y_, &reached, CV_ONE_STEP);
  if (flag == CV_TOO_CLOSE) {
    // Nearer than rounding: nothing moves.
    instance->time = t_end;
    instance->steps++;
    has_memory_ = false;
    return TACTUS_OK;
  }
  const double* const y = N_VGetArrayPointer(y_);
  const std::int32_t not_finite = tk_first_not_finite(n_, y);
  // CVODE goes on with steps that do not move the time; tk_adaptive_step does not.
  const bool is_lost = reached < t_end && reached - from < 16 * 0x1p-52 * std::abs(from);
  if (flag < 0 || not_finite >= 0 || is_lost) {
    has_memory_ = false;
    if (flag >= 0 && not_finite >= 0) return tk_fail(instance, TACTUS_NOT_FINITE, not_finite);
    const int status = flag < 0 ? failure(flag) : int{TACTUS_STEP_TOO_SMALL};
    return tk_fail(instance, status,
                   status == TACTUS_STEP_TOO_SMALL    ? tk_worst_state(model, instance, 0)
                   : status == TACTUS_OFF_CONSTRAINTS ? instance->failed_index
                                                      : -1);
  }
  long int failures = 0;
  long int turns = 0;
  CVodeGetNumErrTestFails(memory_, &failures);
  CVodeGetNumNonlinSolvConvFails(memory_, &turns);
  if (!still_moves(turns - turns_before)) {
    has_memory_ = false;
    return tk_fail(instance, TACTUS_STEP_TOO_SMALL, tk_worst_state(model, instance, 0));
  }
  CVodeGetCurrentStep(memory_, &instance->next_step);

  std::copy_n(x, n_, tk_stage_vector(model, instance, TK_BEFORE));
  std::copy_n(y, n_, tk_stage_vector(model, instance, TK_AFTER));
  std::copy_n(y, n_, x);
  std::copy_n(y, n_, last_.data());
  instance->time = time_ = reached;
  instance->dense_from = from;
  instance->dense_step = reached - from;
  instance->steps++;
  instance->rejected += failures - failures_before + turns - turns_before;

  // Nordsieck's coefficients about the step's end; tk_dense sums them.
  int order = 0;
  CVodeGetLastOrder(memory_, &order);
  double scale = 1;
  for (int j = 0; j < TK_CVODE_COEFFICIENTS; ++j) {
    double* const z = tk_stage_vector(model, instance, static_cast<std::uint32_t>(TK_DENSE + j));
    if (j > 0) scale *= instance->dense_step / j;
    if (j <= order && CVodeGetDky(memory_, reached, j, derivative_of_y_) == CV_SUCCESS) {
      const double* const values = N_VGetArrayPointer(derivative_of_y_);
      for (std::uint32_t i = 0; i < n_; ++i) z[i] = scale * values[i];
      if (j == 1) std::copy_n(values, n_, tk_kept_derivative(model, instance));
    } else {
      std::fill_n(z, n_, 0.0);
    }
  }
  instance->first_stage_valid = 1;
  tk_clear_failure(instance);
  return TACTUS_OK;
}

Cvode::Cvode(const tactus_model& model) {
  const std::uint32_t count = std::max(model.structure_count, 1u);
  tables_.reserve(count);
  for (std::uint32_t k = 0; k < count; ++k) {
    engines_.push_back(std::make_unique<Engine>(model.structure_count > 0 ? *model.structures[k] : model));
    tables_.push_back({model, engines_.back().get(), model.adaptive_step});
    sources_.push_back(nullptr);
    structures_.push_back(&tables_[k].model);
  }
}
Cvode::~Cvode() = default;

bool Cvode::is_sparse() const { return engines_.front()->is_sparse(); }

void Cvode::fill(std::size_t k, const tactus_model* from) {
  if (sources_[k] == from) return;
  tables_[k].model = *from;
  tables_[k].model.adaptive_step = step;
  tables_[k].other = from->adaptive_step;
  sources_[k] = from;
}

const tactus_model* Cvode::table(const tactus_model* model) {
  if (model->structure_count == 0) {
    fill(0, model);
    return &tables_.front().model;
  }
  for (std::uint32_t k = 0; k < model->structure_count; ++k) fill(k, model->structures[k]);
  whole_ = *model;
  whole_.structures = structures_.data();
  return &whole_;
}

// The table is the first member of what `table` gives out.
int Cvode::step(const tactus_model* model, tactus_instance* instance, int solver, double t_end, double h_max,
                double tolerance) {
  const Table* table = reinterpret_cast<const Table*>(model);
  if (solver != TACTUS_CVODE) return table->other(model, instance, solver, t_end, h_max, tolerance);
  return table->engine->step(model, instance, t_end, h_max, tolerance);
}

}  // namespace sim
