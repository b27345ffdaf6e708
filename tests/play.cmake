# The world with the clock, without a page; `play` itself is the test of src/play. Included from tests/CMakeLists.txt.
if(TARGET tactus)
  add_test(NAME play_command COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/play_test.py $<TARGET_FILE:tactus>)
endif()
