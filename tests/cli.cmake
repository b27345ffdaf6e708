# The command line as people use it. Included from tests/CMakeLists.txt.
if(TARGET tactus)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_test(NAME cli COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/cli_test.py $<TARGET_FILE:tactus>)
  add_test(NAME files COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/files_test.py $<TARGET_FILE:tactus>)
endif()
