# tactus_folder(NAME [DEPENDS lib..] [TEST_DEPENDS lib..])
#
# One static library `tactus_NAME` of a folder's sources, and one GoogleTest program `NAME_test` of its *_test.cpp.
# A folder includes as "compiler/lex/lex.h": the include root is src/.
function(tactus_folder name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;TEST_DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp)
  if(tests)
    list(REMOVE_ITEM sources ${tests})
  endif()
  if(sources)
    add_library(tactus_${name} STATIC ${sources})
    target_include_directories(tactus_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(tactus_${name} PUBLIC ${ARG_DEPENDS})
  else()
    add_library(tactus_${name} INTERFACE)
    target_include_directories(tactus_${name} INTERFACE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(tactus_${name} INTERFACE ${ARG_DEPENDS})
  endif()
  if(tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE tactus_${name} ${ARG_TEST_DEPENDS} GTest::gtest_main)
    target_compile_definitions(${name}_test PRIVATE TACTUS_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TACTUS_BINARY_DIR="${PROJECT_BINARY_DIR}")
    add_test(NAME ${name} COMMAND ${name}_test)
  endif()
endfunction()

# tactus_embed(TARGET FUNCTION NAMESPACE HEADER FOLDER file..)
#
# Files that travel inside the program: adds to TARGET the function `NAMESPACE::FUNCTION()`, declared in HEADER as
# `const std::map<std::string_view, std::string_view>&`, from a file's path below FOLDER to its text.
function(tactus_embed target function namespace header folder)
  set(assembly "    .section .rodata\n")
  set(declarations "")
  set(rows "")
  set(number 0)
  foreach(text ${ARGN})
    file(RELATIVE_PATH name ${folder} ${text})
    set(symbol tactus_${function}_${number})
    string(APPEND assembly "    .globl ${symbol}\n    .globl ${symbol}_end\n${symbol}:\n    .incbin \"${text}\"\n${symbol}_end:\n")
    string(APPEND declarations "extern \"C\" const char ${symbol}[];\nextern \"C\" const char ${symbol}_end[];\n")
    string(APPEND rows "      {\"${name}\", {${symbol}, static_cast<std::size_t>(${symbol}_end - ${symbol})}},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  string(APPEND assembly "    .section .note.GNU-stack,\"\",@progbits\n")
  set(base ${CMAKE_CURRENT_BINARY_DIR}/${function})
  file(GENERATE OUTPUT ${base}.S CONTENT "${assembly}")
  file(GENERATE OUTPUT ${base}.cpp CONTENT "#include \"${header}\"
${declarations}
namespace ${namespace} {
const std::map<std::string_view, std::string_view>& ${function}() {
  static const std::map<std::string_view, std::string_view> all = {
${rows}  };
  return all;
}
}  // namespace ${namespace}
")
  set_source_files_properties(${base}.S PROPERTIES OBJECT_DEPENDS "${ARGN}")
  target_sources(${target} PRIVATE ${base}.S ${base}.cpp)
endfunction()

# tactus_compress(RESULT INTO FOLDER file..)
#
# Compresses every file below FOLDER to the same name and `.gz` below INTO, again whenever it changes. RESULT: the list of these.
function(tactus_compress result into folder)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(script ${PROJECT_SOURCE_DIR}/cmake/compress.py)
  set(all "")
  foreach(file ${ARGN})
    file(RELATIVE_PATH name ${folder} ${file})
    get_filename_component(parent ${into}/${name} DIRECTORY)
    file(MAKE_DIRECTORY ${parent})
    add_custom_command(OUTPUT ${into}/${name}.gz DEPENDS ${file} ${script}
      COMMAND ${Python3_EXECUTABLE} ${script} ${file} ${into}/${name}.gz VERBATIM)
    list(APPEND all ${into}/${name}.gz)
  endforeach()
  set(${result} ${all} PARENT_SCOPE)
endfunction()
