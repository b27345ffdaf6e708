# The world with the clock, without a page; `play` itself is the test of src/play. Included from tests/CMakeLists.txt.
if(TARGET tactus)
  add_test(NAME play_command COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/play_test.py $<TARGET_FILE:tactus>)
  add_test(NAME edits COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/edits_test.py $<TARGET_FILE:tactus>)
  # About twenty seconds of `./dev soak`: the same actions on every machine.
  add_test(NAME soak COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/soak.py $<TARGET_FILE:tactus> --actions 250 --seed 1 --normal-priority)
endif()
