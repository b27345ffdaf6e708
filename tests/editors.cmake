# The language server and what editors are given. Included from tests/CMakeLists.txt.
if(TARGET tactus)
  add_test(NAME lsp_server COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/lsp_test.py $<TARGET_FILE:tactus>)
endif()
find_program(TACTUS_NODE NAMES node nodejs)
if(TACTUS_NODE)
  set(editor_tests ${PROJECT_SOURCE_DIR}/editors/test)
  add_test(NAME tree_sitter_grammar COMMAND ${TACTUS_NODE} ${editor_tests}/tree_sitter.mjs)
  # What needs packages of npm: there behind `./dev editors`.
  if(EXISTS ${PROJECT_SOURCE_DIR}/editors/node_modules/vscode-textmate)
    add_test(NAME textmate_grammar COMMAND ${TACTUS_NODE} ${editor_tests}/textmate.mjs)
    if(TARGET tactus)
      add_test(NAME lsp_protocol_client COMMAND ${TACTUS_NODE} ${editor_tests}/client.mjs $<TARGET_FILE:tactus>)
    endif()
  endif()
endif()
# Without Node and npm: every reserved word is in both grammars.
add_test(NAME grammar_words COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/grammar_words_test.py)
