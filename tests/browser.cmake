# tactus play in a real browser. Included from tests/CMakeLists.txt, after editors.cmake, which looks for Node. `./dev test` builds the page first, which
# also brings what the test imports; alone, so that the times it prints mean something.
if(TARGET tactus AND TACTUS_NODE)
  add_test(NAME browser COMMAND ${TACTUS_NODE} ${CMAKE_CURRENT_LIST_DIR}/browser_test.mjs $<TARGET_FILE:tactus>)
  set_tests_properties(browser PROPERTIES RUN_SERIAL TRUE TIMEOUT 600)
endif()
