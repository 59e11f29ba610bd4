/// Where in version A something is: an index of samples.
///
/// An *anchor* is a place where the Gear hash of the last 32 bytes is below a threshold: chosen by content, so that the
/// same bytes have the same anchors wherever they are. The index has one position for the 32 bytes before each anchor of
/// A; a look-up for an anchor of B finds where they may have been. The more of A, the sparser the anchors: the index
/// stays below a size, in scratch memory. What is found is a hint: 44 bits of a hash vouch for it.
///
/// From the default level on the index is *exact* where it is of all of A: anchors are denser, it has A's bytes too, in scratch
/// memory, and a few places of what A has more than once, of which a search takes the one with the longest match. That is
/// what it takes to find records that were put in another order, and that resemble each other.
#ifndef PKS_DELTA_DELTA_INDEX_H
#define PKS_DELTA_DELTA_INDEX_H

#include "codec/chunker.h"
#include "delta/delta_plan.h"
#include "platform/threads.h"

typedef struct pks__delta_index {
  pks__scratch slots;  ///< uint64_t: high 20 bits of check, low 44 bits position + 1 after the anchor; 0: none
  uint32_t slot_bits;
  uint32_t threshold;  ///< of the Gear hash
  bool is_exact;
  pks__scratch bytes;  ///< of an exact one: A
} pks__delta_index;

/// Says how far things are; not PKS_OK to stop.
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

/// Looks anchors of `bytes` up in an exact index, in order; at most `capacity` of them. Each is one that A has indeed: where
/// what came before goes on, or else where the most bytes around it are the same. Of anchors in bytes that such a match
/// holds, there is none. Returns how many were found.
uint32_t pks__delta_index_match(
  const pks__delta_index *index, const uint8_t *bytes, uint32_t length, pks__delta_hit *out, uint32_t capacity
);

/// Makes an index of bytes in memory, with all the anchors that there are: positions are places after an anchor in
/// `bytes`. Zero-initialise `*out` once, and use it again; errors: OUT_OF_MEMORY.
pks_status pks__delta_index_bytes(pks__delta_index *out, const uint8_t *bytes, uint32_t length, pks_error *error);

#endif
