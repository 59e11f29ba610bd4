/// Patterns for paths: which assets of a folder an option means. The language is described in `packstore.h`, at
/// `pks_add_request.map_globs`.
///
/// A match takes time in proportion to pattern times path, whatever the pattern, and no memory but the stack.
#ifndef PKS_FORMAT_GLOB_H
#define PKS_FORMAT_GLOB_H

#include "format/format.h"

enum { PKS__GLOB_MAX = 1024 };  ///< bytes

/// What is wrong with a pattern, static text; NULL when it is one.
const char *pks__glob_fault(const char *pattern);

/// Whether the pattern, which has no fault, means the path.
bool pks__glob_matches(const char *pattern, const char *path, size_t path_length);

#endif
