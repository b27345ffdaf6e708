# The command line and the library as people use them. Included from tests/CMakeLists.txt.
if(TARGET tactus)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_test(NAME cli COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/cli_test.py $<TARGET_FILE:tactus>)
endif()
if(TARGET libtactus)
  # Installs to a temporary prefix and builds a project there that finds the package.
  add_test(NAME library_package
    COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DSOURCE=${CMAKE_CURRENT_LIST_DIR}/consumer -DWORK=${CMAKE_CURRENT_BINARY_DIR}/consumer
      -DGENERATOR=${CMAKE_GENERATOR} -DCXX=${CMAKE_CXX_COMPILER} -P ${CMAKE_CURRENT_LIST_DIR}/library_package.cmake)
endif()
