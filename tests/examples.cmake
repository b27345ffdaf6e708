# The examples and the programs of the documentation, run by the real program. Included from tests/CMakeLists.txt.
if(TARGET tactus)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  foreach(name examples docs commands constraints hybrid proofs monitors)
    add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.py $<TARGET_FILE:tactus>)
  endforeach()
  set_tests_properties(commands PROPERTIES TIMEOUT 3600)
endif()
