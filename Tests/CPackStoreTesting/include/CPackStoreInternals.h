/// The core's internal headers, for tests that reach below the public API.
#ifndef CPACKSTORE_INTERNALS_H
#define CPACKSTORE_INTERNALS_H

#include "base/bytes.h"
#include "base/keyed_hash.h"
#include "base/memory.h"
#include "catalog/catalog.h"
#include "catalog/row_budget.h"
#include "catalog/tree_cursor.h"
#include "catalog/tree_writer.h"
#include "codec/checksum.h"
#include "codec/chunker.h"
#include "codec/codec.h"
#include "codec/range_coder.h"
#include "commit/staged_op.h"
#include "delta/delta.h"
#include "delta/delta_copies.h"
#include "delta/delta_header.h"
#include "delta/delta_short.h"
#include "format/format.h"
#include "format/glob.h"
#include "format/hash_map.h"
#include "format/record_log.h"
#include "format/table.h"
#include "index/extent_walk.h"
#include "index/path_hash.h"
#include "index/run.h"
#include "index/run_writer.h"
#include "platform/file_writer.h"
#include "platform/scratch.h"
#include "platform/threads.h"
#include "platform/vfs_posix.h"
#include "segment/frame_cache.h"
#include "segment/frame_check.h"
#include "segment/frame_table.h"
#include "segment/segment.h"
#include "segment/segment_writer.h"
#include "store/asset_cache.h"
#include "store/control.h"
#include "store/generation.h"
#include "store/locks.h"

/// libzstd's version, on which the bytes of compressed frames depend. Declared here, because `codec.c` alone includes `zstd.h`.
unsigned ZSTD_versionNumber(void);

#endif
