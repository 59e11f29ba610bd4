/// Finds similar data in version A: an index of samples.
///
/// An *anchor* is a place where the Gear hash of the last 32 bytes is below a threshold: chosen by content, so that equal bytes
/// have the same anchors anywhere. The index has one position for the 32 bytes before each anchor of A; a look-up for an anchor of
/// B finds where they may have been. The larger A, the sparser the anchors: the index stays below a size, in scratch memory. A
/// result is a hint, verified by 44 bits of a hash.
///
/// From the default level on, an index of all of A is *exact*: anchors are denser, it also contains A's bytes, in scratch memory,
/// and several places of repeated data, from which a search selects the longest match. This is needed to find reordered records
/// that resemble each other.
#ifndef PKS_DELTA_DELTA_INDEX_H
#define PKS_DELTA_DELTA_INDEX_H

#include "codec/chunker.h"
#include "delta/delta_plan.h"
#include "platform/threads.h"

typedef struct pks__delta_index {
  pks__scratch slots;  ///< uint64_t: high 20 bits of check, low 44 bits position + 1 after the anchor; 0: none
  uint32_t slot_bits;
  uint32_t threshold;  ///< threshold of the Gear hash
  bool is_exact;
  pks__scratch bytes;  ///< for an exact index: the bytes of A
} pks__delta_index;

/// Reports progress; any result other than PKS_OK stops.
typedef struct pks__delta_progress {
  void *context;
  pks_status (*report)(void *context, uint64_t bytes_done, pks_error *error);
} pks__delta_progress;

/// Reads `spans` of A, which hold pks__old_span in order, on all threads of `pool`. `home` may be NULL. To be closed,
/// also after an error. A function of A and the spans alone. `is_exact`: the spans are all of A.
pks_status pks__delta_index_make(
  pks__delta_index *out, const pks__version_list *from, const pks__scratch *spans, pks__pool *pool,
  pks__scratch_folder *home, const pks__delta_progress *progress, bool is_exact, pks_error *error
);
/// The bytes of all spans.
uint64_t pks__old_spans_length(const pks__scratch *spans);
void pks__delta_index_close(pks__delta_index *index);  ///< a zeroed one is fine

/// A place of B's bytes that A may have.
typedef struct pks__delta_hit {
  uint32_t end;       ///< after the anchor, in the bytes that were looked at
  uint64_t position;  ///< after the anchor, in A
} pks__delta_hit;

/// Looks anchors of `bytes` up, in order; at most `capacity` of them, and none that `without`, which may be NULL, has as
/// well. Returns how many were found.
uint32_t pks__delta_index_find(
  const pks__delta_index *index, const pks__delta_index *without, const uint8_t *bytes, uint32_t length,
  pks__delta_hit *out, uint32_t capacity
);

/// Looks anchors of `bytes` up in an exact index, in order; at most `capacity` of them. Each result is an anchor that A really has:
/// at the continuation of the previous one, or else where the most surrounding bytes are equal. Anchors inside such a match are
/// skipped. Returns the number of results.
uint32_t pks__delta_index_match(
  const pks__delta_index *index, const uint8_t *bytes, uint32_t length, pks__delta_hit *out, uint32_t capacity
);

/// Makes an index of bytes in memory, with all the anchors that there are: positions are places after an anchor in
/// `bytes`. Zero-initialise `*out` once, and use it again; errors: OUT_OF_MEMORY.
pks_status pks__delta_index_bytes(pks__delta_index *out, const uint8_t *bytes, uint32_t length, pks_error *error);

#endif
