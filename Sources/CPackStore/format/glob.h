/// Patterns for paths: which assets of a folder an option means. The language is described in `packstore_write.h`, at
/// `pks_add_request.map_globs`, which also declares `pks_glob_fault` and `pks_glob_matches`.
///
/// A match takes time in proportion to pattern times path, whatever the pattern, and no memory but the stack.
#ifndef PKS_FORMAT_GLOB_H
#define PKS_FORMAT_GLOB_H

#include "format/format.h"

enum { PKS__GLOB_MAX = 1024 };  ///< bytes

#endif
