# cmake -D BUILD=.. -D SOURCE=.. -D WORK=.. -P package_test.cmake
#
# Installs the build into an empty prefix, builds tests/package against it and runs it: header, library and package files are
# complete, and nothing of them points back into the build.
function(do)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGV}\nfailed:\n${text}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
do(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
do(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/tests/package -B ${WORK}/user -DCMAKE_PREFIX_PATH=${WORK}/prefix)
do(${CMAKE_COMMAND} --build ${WORK}/user)
do(${WORK}/user/user)
do(${WORK}/prefix/bin/tactus --version)
