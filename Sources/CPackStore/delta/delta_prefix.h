/// Selects the bytes of version A for the prefix of a group.
///
/// Two sources show what a group resembles: the data of A between the chunks around the new ones, the *replaced* ranges; and
/// anchors of the group elsewhere in A. Neighbouring anchors at one distance form one *far* range. Only far ranges without a
/// counterpart in the replaced data count: the receiver reads and decodes a whole frame for a piece of it, so few pieces are better
/// than many. The room for the prefix is limited. There are two ways to fill it, and the encoder tries both:
///   wide    replaced data with large margins, and the far ranges with the most anchors, also with large margins
///   narrow  small margins around replaced data, and as many far ranges as fit
/// With an exact index there is a third one, for versions in which nearly everything moved:
///   fitted  the counterparts of the group's bytes, from any place, with almost no margins
#ifndef PKS_DELTA_DELTA_PREFIX_H
#define PKS_DELTA_DELTA_PREFIX_H

#include "delta/delta_align.h"
#include "delta/delta_plan.h"

typedef struct pks__old_range {
  uint64_t begin, end;  ///< positions in A
  uint32_t weight;      ///< anchors
  uint32_t order;       ///< of equal weights the first one counts more
} pks__old_range;

enum { PKS__DELTA_HITS_MAX = 32 * 1024 };

/// One thread's; zero-initialise.
typedef struct pks__prefix_chooser {
  uint64_t byte_count;      ///< bytes of A
  pks__scratch replaced;    ///< pks__old_range
  pks__scratch far;         ///< pks__old_range, the heaviest first
  pks__scratch chosen;      ///< pks__old_range with their margins, in order, without overlaps or contacts
  pks__scratch pieces;      ///< pks__delta_prefix_part
  uint32_t length;          ///< length of the group
  pks__scratch alignments;  ///< pks__alignment, of the group with A
  pks__delta_hit *hits;     ///< PKS__DELTA_HITS_MAX
} pks__prefix_chooser;

/// Begins with the data that a group replaces, and selects pieces of that alone, wide.
pks_status pks__prefix_chooser_begin(
  pks__prefix_chooser *chooser, const pks__delta_plan *plan, const pks__planned_group *group, uint32_t room,
  pks_error *error
);
/// Finds far ranges for the group with the new bytes `bytes`; `known` is an index of the pieces' contents. At most `most` ranges
/// are considered.
pks_status pks__prefix_chooser_search(
  pks__prefix_chooser *chooser, const pks__delta_index *index, const pks__delta_index *known, const uint8_t *bytes,
  uint32_t length, uint32_t most, pks_error *error
);

/// Finds the counterparts in A of the new bytes `bytes`, with an exact index.
pks_status pks__prefix_chooser_align(
  pks__prefix_chooser *chooser, const pks__delta_index *index, const uint8_t *bytes, uint32_t length, pks_error *error
);

typedef enum pks__prefix_choice {
  PKS__PIECES_WIDE,
  PKS__PIECES_NARROW,
  PKS__PIECES_FITTED,  ///< after `pks__prefix_chooser_align` alone
  PKS__PIECE_CHOICES,
} pks__prefix_choice;

/// Chooses pieces of at most `room` bytes together into `chooser->pieces`: in order of positions, apart from each other.
pks_status pks__prefix_chooser_choose(
  pks__prefix_chooser *chooser, pks__prefix_choice choice, uint32_t room, pks_error *error
);
void pks__prefix_chooser_free(pks__prefix_chooser *chooser);

#endif
