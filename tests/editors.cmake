# The language server and what editors are given. Included from tests/CMakeLists.txt.
if(TARGET tactus)
  add_test(NAME lsp COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/lsp_test.py $<TARGET_FILE:tactus>)
endif()
