/// Patterns for paths: the assets of a folder that an option applies to. `packstore_write.h` describes the syntax at
/// `pks_add_request.map_globs`, and declares `pks_glob_fault` and `pks_glob_matches`.
///
/// A match takes time proportional to pattern times path, for any pattern, and no memory except the stack.
#ifndef PKS_FORMAT_GLOB_H
#define PKS_FORMAT_GLOB_H

#include "format/format.h"

enum { PKS__GLOB_MAX = 1024 };  ///< bytes

#endif
