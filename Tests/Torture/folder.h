/// Folders of the torture's own.
#ifndef TORTURE_FOLDER_H
#define TORTURE_FOLDER_H

#include <stdbool.h>

/// A new empty folder inside `$TMPDIR`, or `/tmp`.
bool folder_make_temporary(char out[4096]);
/// Removes it with all that is in it. One that is not there is fine.
void folder_remove(const char *path);
/// Makes `to` hold what `from` holds. Files are linked, but for CONTROL, LOCK and READERS, which alone are written to
/// or locked: should any other be, the source is damaged too, and every check that follows says so.
bool folder_clone(const char *from, const char *to);

#endif
