// A text -> the front end; parts.h says how an input is read. Two targets are made of this: fuzz_text, with libFuzzer's
// own mutations, finds what is not a program at all; fuzz_programs, with mutate.h, what is nearly one.
#include "cpu_limit.h"
#include "front_end.h"

extern "C" int LLVMFuzzerInitialize(int*, char*** argv) {
  fuzz::want_big_stack(*argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::CpuLimit limit;
  fuzz::check_front_end({reinterpret_cast<const char*>(data), size});
  return 0;
}
