# Source lines in reports: through libbacktrace where the compiler ships it, otherwise addr2line is
# run at the time of the report.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES backtrace)
check_cxx_source_compiles("
#include <backtrace.h>
int main() { return backtrace_create_state(nullptr, 0, nullptr, nullptr) == nullptr; }
" ASCENDFA_HAVE_LIBBACKTRACE)
unset(CMAKE_REQUIRED_LIBRARIES)
if(ASCENDFA_HAVE_LIBBACKTRACE AND TARGET davinci_emulator)
  target_compile_definitions(davinci_emulator PRIVATE DAV_HAVE_LIBBACKTRACE)
  target_link_libraries(davinci_emulator PRIVATE backtrace)
  target_link_options(davinci_emulator PRIVATE "LINKER:--exclude-libs,libbacktrace.a")
endif()
