// An Instance of a model that owns its memory: one block, aligned to a cache line, header and all sections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include "abi/model.h"

namespace sim {

class Instance {
 public:
  // The model's metadata must outlive this. The block is not yet started: see tk_reset, tk_start.
  explicit Instance(const tactus_model& model)
      : layout_(model.layout),
        state_count_(model.state_count),
        bytes_(tactus_instance_bytes(&model)),
        block_(static_cast<tactus_instance*>(::operator new(bytes_, alignment))) {
    *block_ = {};
  }

  tactus_instance* get() { return block_.get(); }
  const tactus_instance* get() const { return block_.get(); }
  tactus_instance* operator->() { return block_.get(); }
  const tactus_instance* operator->() const { return block_.get(); }

  double* section(std::uint32_t offset) { return tactus_data(block_.get()) + offset; }
  std::span<double> states() { return {section(layout_.states), state_count_}; }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(tactus_instance* block) const { ::operator delete(block, alignment); }
  };

  tactus_layout layout_;
  std::uint32_t state_count_;
  std::size_t bytes_;
  std::unique_ptr<tactus_instance, Free> block_;
};

}  // namespace sim
