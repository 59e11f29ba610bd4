/// Where a symbolic link of a folder leads: to something within the folder, or out of it.
///
/// A link leads out when it is absolute, wherever that is, or when a `..` climbs above the folder on the way. Links that
/// it leads through count as well. Nothing outside is looked at to find out.
#ifndef PKS_INGEST_LINK_SCOPE_H
#define PKS_INGEST_LINK_SCOPE_H

#include "format/format.h"
#include "platform/vfs.h"

/// Follows the path of a link, relative to `root`, step by step. Returns 0 or an errno: ELOOP when it does not end,
/// ENOENT when it ends nowhere, ENAMETOOLONG. `*leads_out` is set with 0 alone.
int pks__link_leads_out(const pks_vfs *vfs, pks_vfs_file root, const char *path, bool *leads_out);

#endif
