# tactus play in a real browser. Included from tests/CMakeLists.txt, after editors.cmake, which looks for Node. `./dev test` builds the page first, which
# also brings what the test imports; alone, so that the times it prints mean something.
if(TARGET tactus AND TACTUS_NODE)
  add_test(NAME browser COMMAND ${TACTUS_NODE} ${CMAKE_CURRENT_LIST_DIR}/browser_test.mjs $<TARGET_FILE:tactus>)
  set_tests_properties(browser PROPERTIES RUN_SERIAL TRUE TIMEOUT 600)
  add_test(NAME browser_examples COMMAND ${TACTUS_NODE} ${CMAKE_CURRENT_LIST_DIR}/browser_examples_test.mjs $<TARGET_FILE:tactus>)
  set_tests_properties(browser_examples PROPERTIES TIMEOUT 3600)
endif()

# The page's own: types and pure parts, then the page in a browser against a stand-in server.
if(TACTUS_NODE)
  set(studio ${PROJECT_SOURCE_DIR}/studio)
  add_test(NAME studio WORKING_DIRECTORY ${studio}
    COMMAND sh -c "\"$0\" node_modules/typescript/bin/tsc --noEmit && \"$0\" build.mjs --tests && \"$0\" --test build/unit.test.mjs" ${TACTUS_NODE})
  add_test(NAME studio_page WORKING_DIRECTORY ${studio} COMMAND ${TACTUS_NODE} --test test/page.test.mjs)
endif()
