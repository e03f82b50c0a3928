# Targets of the C library: nonfinite::shared and nonfinite::static. The folder may be moved as a
# whole.
if(NOT TARGET nonfinite::shared)
  # Without symbolic links: /lib may be a link to /usr/lib.
  get_filename_component(_nonfinite "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
  get_filename_component(_nonfinite "${_nonfinite}/../../.." ABSOLUTE)
  add_library(nonfinite::shared SHARED IMPORTED)
  add_library(nonfinite::static STATIC IMPORTED)
  set_target_properties(nonfinite::shared nonfinite::static PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_nonfinite}/include")
  if(WIN32)
    set_target_properties(nonfinite::shared PROPERTIES
      IMPORTED_LOCATION "${_nonfinite}/bin/nonfinite.dll"
      IMPORTED_IMPLIB "${_nonfinite}/lib/nonfinite.dll.lib")
    set_target_properties(nonfinite::static PROPERTIES
      IMPORTED_LOCATION "${_nonfinite}/lib/nonfinite.lib")
  else()
    set_target_properties(nonfinite::shared PROPERTIES
      IMPORTED_LOCATION "${_nonfinite}/lib/libnonfinite${CMAKE_SHARED_LIBRARY_SUFFIX}")
    set_target_properties(nonfinite::static PROPERTIES
      IMPORTED_LOCATION "${_nonfinite}/lib/libnonfinite.a")
  endif()
  unset(_nonfinite)
endif()
