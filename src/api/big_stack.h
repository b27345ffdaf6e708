// Runs a function on a thread with a stack of 256 MB and waits for it. The compiler walks trees by recursion; its own
// limits on nesting end long before this stack does, but not before the 8 MB that a main thread has. Pages that are not
// touched cost nothing. Where such a thread cannot be had, the function runs here.
#pragma once

#include <cstddef>
#include <functional>

namespace api {

inline constexpr std::size_t big_stack_bytes = std::size_t{256} << 20;

// An exception thrown by `function` is rethrown here.
void run_with_big_stack(const std::function<void()>& function);

}  // namespace api
