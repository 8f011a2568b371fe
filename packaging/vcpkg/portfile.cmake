# SPDX-License-Identifier: MIT
# The library alone. Its CMake package stays in lib/cmake, where find_package looks, since it finds the library beside.
set(VCPKG_POLICY_SKIP_MISPLACED_CMAKE_FILES_CHECK enabled)
set(VCPKG_POLICY_SKIP_LIB_CMAKE_MERGE_CHECK enabled)
# The folders in it only give the way from one to the other.
set(VCPKG_POLICY_SKIP_ABSOLUTE_PATHS_CHECK enabled)
vcpkg_download_distfile(ARCHIVE
  URLS "@URL@/posenc-@PACKAGE_VERSION@.tar.xz"
  FILENAME "posenc-@PACKAGE_VERSION@.tar.xz"
  SHA512 @SHA512@)
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${ARCHIVE}")
vcpkg_configure_make(SOURCE_PATH "${SOURCE_PATH}" OPTIONS --disable-tools)
vcpkg_install_make()
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
