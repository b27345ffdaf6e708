# What `cmake --install` puts where: the program, the library with its header, and the files by which another CMake project
# finds it with
#
#   find_package(tactus 0.1 REQUIRED)
#   target_link_libraries(app PRIVATE tactus::tactus)
#
# Included at the end of the top CMakeLists.txt. The library's target is `libtactus`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(TARGET tactus)
  install(TARGETS tactus RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

if(TARGET libtactus)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tactus)
  set_target_properties(libtactus PROPERTIES EXPORT_NAME tactus)
  install(TARGETS libtactus EXPORT tactusTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tactus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
  install(EXPORT tactusTargets NAMESPACE tactus:: DESTINATION ${package_dir})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tactusConfig.cmake.in
    ${PROJECT_BINARY_DIR}/tactusConfig.cmake INSTALL_DESTINATION ${package_dir})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/tactusConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/tactusConfig.cmake ${PROJECT_BINARY_DIR}/tactusConfigVersion.cmake DESTINATION ${package_dir})
endif()
