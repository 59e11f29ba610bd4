/// Growable arrays that do not grow private memory: in the heap while small, then in a mapped temporary file.
///
/// Listings, tables of new chunks and indexes under construction are proportional to the added data. They are stored here, so that
/// a transaction's anonymous memory stays bounded while the kernel writes their pages out as needed. The space is pre-allocated on
/// disk before it is accessed: a full disk is an error, not a signal. Files are in the staging's folder and deleted with it.
#ifndef PKS_PLATFORM_SCRATCH_H
#define PKS_PLATFORM_SCRATCH_H

#include "base/keyed_hash.h"
#include "base/status.h"
#include "platform/vfs.h"

/// Where scratch files go. Counts them to name them.
typedef struct pks__scratch_folder {
  const pks_vfs *vfs;
  pks_vfs_file folder;
  pks__hash_key key;  ///< key of the maps in this memory (`id_map.h`)
  uint32_t next_number;
} pks__scratch_folder;

/// Zero-initialised: an empty array. One thread at a time.
typedef struct pks__scratch {
  pks__scratch_folder *home;
  uint8_t *bytes;     ///< moves when the array grows
  uint64_t length;    ///< bytes in use
  uint64_t capacity;  ///< bytes there is room for
  bool mapped;
} pks__scratch;

/// The size up to which an array stays in the heap, bytes.
enum { PKS__SCRATCH_HEAP_MAX = 64 * 1024 };

static inline void pks__scratch_init(pks__scratch *scratch, pks__scratch_folder *home) {
  *scratch = (pks__scratch){.home = home};
}

/// Frees it; a zero-initialised one too.
void pks__scratch_free(pks__scratch *scratch);

/// Makes room for `byte_count` more bytes; they are not in use yet.
pks_status pks__scratch_reserve(pks__scratch *scratch, uint64_t byte_count, pks_error *error);

/// An untrusted size hint: an array that will not stay in the heap goes to its file at once, and neither leaves holes in the
/// heap nor is copied while it grows.
pks_status pks__scratch_expect(pks__scratch *scratch, uint64_t byte_count, pks_error *error);

/// Appends bytes, or zeros when `bytes` is NULL.
pks_status pks__scratch_append(pks__scratch *scratch, const void *bytes, uint64_t byte_count, pks_error *error);

/// Typed access: the row `index` of an array of `type`.
#define PKS__SCRATCH_AT(scratch, type, index) (&((type *)(void *)(scratch)->bytes)[index])
#define PKS__SCRATCH_COUNT(scratch, type) ((scratch)->length / sizeof(type))

#endif
