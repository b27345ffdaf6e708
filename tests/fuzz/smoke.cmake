# About a minute of fuzzing, all targets together, from the committed inputs on, three at most. Included from tests/CMakeLists.txt.
# The targets are built by `./dev test` in a directory of their own, since libFuzzer wants clang; where they are not, the test is
# skipped. Under sanitizers it would be the same once more.
set(TACTUS_FUZZ_BUILD ${PROJECT_SOURCE_DIR}/build-fuzz CACHE PATH "a build with TACTUS_FUZZ")
if(TARGET tactus AND NOT TACTUS_SANITIZE)
  add_test(NAME fuzz COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/fuzz.py --build ${TACTUS_FUZZ_BUILD} --tactus $<TARGET_FILE:tactus>
    --smoke --seconds 180 --work ${PROJECT_BINARY_DIR}/fuzz_smoke)
  set_tests_properties(fuzz PROPERTIES SKIP_RETURN_CODE 77)
endif()
