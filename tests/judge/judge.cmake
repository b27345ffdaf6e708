# The independent judge: random models, simulated by the compiler and by a walker of their flat equations. Included from tests/CMakeLists.txt.
if(TARGET tactus_api)
  set(judge_folder ${CMAKE_CURRENT_LIST_DIR})
  # Only the front end and its own arithmetic: what it judges must not be linked into its opinion.
  add_library(tactus_judge STATIC ${judge_folder}/dense.cpp ${judge_folder}/evaluate.cpp ${judge_folder}/front.cpp ${judge_folder}/judge.cpp)
  target_include_directories(tactus_judge PUBLIC ${judge_folder})
  target_link_libraries(tactus_judge PUBLIC tactus_compiler_flatten tactus_compiler_check tactus_compiler_schemata tactus_compiler_expand
    tactus_compiler_parse tactus_compiler_lex tactus_compiler_source tactus_compiler_table tactus_kernel fmt::fmt)
  add_executable(judge_test ${judge_folder}/judge_test.cpp ${judge_folder}/compare.cpp ${judge_folder}/random_models.cpp)
  target_link_libraries(judge_test PRIVATE tactus_judge tactus_api GTest::gtest_main)
  target_compile_definitions(judge_test PRIVATE TACTUS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME judge COMMAND judge_test)
endif()
