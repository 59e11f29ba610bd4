/// Temporary folders.
#ifndef TORTURE_FOLDER_H
#define TORTURE_FOLDER_H

#include <stdbool.h>

/// Creates an empty folder in `$TMPDIR`, or in `/tmp`.
bool folder_make_temporary(char out[4096]);
/// Removes a folder with its contents. A missing folder is not an error.
void folder_remove(const char *path);
/// Copies a folder. Files are linked, except CONTROL, LOCK and READERS: only these are written in place or locked. If
/// any other file were, the source would be damaged too, and every later check would fail.
bool folder_clone(const char *from, const char *to);

#endif
