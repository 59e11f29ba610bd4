/// The core's internal headers, for tests that reach below the public API.
#ifndef CPACKSTORE_INTERNALS_H
#define CPACKSTORE_INTERNALS_H

#include "../../../Sources/CPackStore/bytes.h"
#include "../../../Sources/CPackStore/cache.h"
#include "../../../Sources/CPackStore/catalog.h"
#include "../../../Sources/CPackStore/change.h"
#include "../../../Sources/CPackStore/checksum.h"
#include "../../../Sources/CPackStore/chunker.h"
#include "../../../Sources/CPackStore/codec.h"
#include "../../../Sources/CPackStore/control.h"
#include "../../../Sources/CPackStore/delta.h"
#include "../../../Sources/CPackStore/file_writer.h"
#include "../../../Sources/CPackStore/format.h"
#include "../../../Sources/CPackStore/frame_table.h"
#include "../../../Sources/CPackStore/generation.h"
#include "../../../Sources/CPackStore/glob.h"
#include "../../../Sources/CPackStore/keyed_hash.h"
#include "../../../Sources/CPackStore/map.h"
#include "../../../Sources/CPackStore/memory.h"
#include "../../../Sources/CPackStore/path_hash.h"
#include "../../../Sources/CPackStore/pieces.h"
#include "../../../Sources/CPackStore/pins.h"
#include "../../../Sources/CPackStore/records.h"
#include "../../../Sources/CPackStore/run.h"
#include "../../../Sources/CPackStore/run_writer.h"
#include "../../../Sources/CPackStore/scratch.h"
#include "../../../Sources/CPackStore/segment.h"
#include "../../../Sources/CPackStore/segment_writer.h"
#include "../../../Sources/CPackStore/table.h"
#include "../../../Sources/CPackStore/threads.h"
#include "../../../Sources/CPackStore/tree.h"
#include "../../../Sources/CPackStore/vfs.h"

/// libzstd's version, on which the bytes of compressed frames depend. Declared here, because `codec.c` alone includes `zstd.h`.
unsigned ZSTD_versionNumber(void);

#endif
