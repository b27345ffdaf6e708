# The installed package, used by another CMake project. Not under sanitizers: the user is built without them.
if(TARGET libtactus AND TARGET tactus AND NOT TACTUS_SANITIZE)
  add_test(NAME package COMMAND ${CMAKE_COMMAND} -D BUILD=${PROJECT_BINARY_DIR} -D SOURCE=${PROJECT_SOURCE_DIR}
    -D WORK=${PROJECT_BINARY_DIR}/package_test -P ${CMAKE_CURRENT_LIST_DIR}/package_test.cmake)
endif()
