// libtactus: compile a text, set, step, read.
//
//   auto model = tactus::Model::from_text("parameter k = 4; boundary x with x(0) = 1, x'(0) = 0; system x'' = -k *
//   x;");
//   model.set("k", 9);
//   model.advance(10);
//   double x = model.get("x");
//
// Mistakes in a model and failures of a run are thrown as tactus::Error. Different models may run on different threads;
// one model belongs to one thread at a time. Link with tactus::tactus (find_package(tactus)).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#if defined(__GNUC__)
#define TACTUS_PUBLIC __attribute__((visibility("default")))
#else
#define TACTUS_PUBLIC
#endif

namespace tactus {

// what() is the text that the command line would show: place, reason, hint.
class TACTUS_PUBLIC Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Role { value, parameter, input };

// A scalar is 1 x 1, a vector n x 1.
struct Name {
  std::string name;  // "p", "p'"
  std::string unit;  // "" when none is known
  Role role = Role::value;
  int rows = 1;
  int columns = 1;
};

// A compiled model and one run of it. Machine code is made in two tiers: a quick one at once, a better one in the
// background; results are the same bits with both.
class TACTUS_PUBLIC Model {
 public:
  // Throws Error with every mistake found. `name` stands in messages. What the model names in `use` and `table` lies in
  // the folder of its file (of a text: of its name), or in one of `allow`, which holds folders and files.
  [[nodiscard]] static Model from_text(std::string_view text, std::string_view name = "model.tact",
                                       const std::vector<std::string>& allow = {});
  [[nodiscard]] static Model from_file(const std::string& path, const std::vector<std::string>& allow = {});
  [[nodiscard]] static Model from_files(const std::vector<std::string>& paths,
                                        const std::vector<std::string>& allow = {});

  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  // What the compiler warned of; empty when all was well.
  const std::string& warnings() const;
  // All that can be read, in the order of the text; parameters and inputs can be set.
  std::vector<Name> names() const;

  // A parameter, or an input (a component of one: "hand[1]"), from now on. Before the first step a parameter also takes
  // part in the boundary conditions. Inputs hold their value until set again.
  void set(std::string_view name, double value);
  // All components of an input, row by row; with rates it moves on linearly from now: value + rate * (t - time()).
  void set(std::string_view name, std::span<const double> values, std::span<const double> rates = {});

  // Back to the start. Parameters and inputs keep their values.
  void reset();
  double time() const;
  std::int64_t steps() const;  // since the start

  // One fixed step: by the model's solver when that takes fixed steps, else by rk4.
  void step(double h);
  // Up to t = until, by the solver the command line would take: a named one, else rk4 at the model's step_size (the
  // last step cut to end at `until`), else tsit5 until that finds the system stiff, from there on rosenbrock or cvode.
  void advance(double until);

  // A scalar or a component ("p[1]") at the present time.
  double get(std::string_view name) const;
  // All components, row by row.
  std::vector<double> get_all(std::string_view name) const;

  // Blocks until the better code is there; without it the run changes over by itself.
  void wait_until_optimised();

 private:
  struct Implementation;
  explicit Model(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

// "0.1.0"
TACTUS_PUBLIC const char* version();

}  // namespace tactus
