// Bytes -> the front end, with libFuzzer's own mutations: what is not a program at all. parts.h says how an input is read.
#include "front_end.h"

extern "C" int LLVMFuzzerInitialize(int*, char*** argv) {
  fuzz::want_big_stack(*argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::check_front_end({reinterpret_cast<const char*>(data), size});
  return 0;
}
