/// Which bytes of version A go into the prefix of a group.
///
/// What a group resembles is known from two sides: anchors of its bytes that A has as well, and what A had between the
/// chunks that surround the new ones. Neighbouring anchors at one distance are one *range* of A. The room for the prefix is
/// limited, so there are two ways to fill it, and the encoder tries both:
///   wide    ranges with much around them, those first that have the most anchors for their length
///   narrow  all ranges, with as much around each as there is room for
#ifndef PKS_DELTA_PIECES_H
#define PKS_DELTA_PIECES_H

#include "delta_index.h"
#include "delta_plan.h"

typedef struct pks__old_range {
  uint64_t begin, end;  ///< positions in A
  uint32_t weight;      ///< anchors for its length
  uint32_t order;       ///< of equal weights the first one counts more
} pks__old_range;

/// One thread's; zero-initialise.
typedef struct pks__piece_chooser {
  uint64_t byte_count;  ///< of A
  pks__scratch ranges;  ///< pks__old_range, heaviest first
  pks__scratch chosen;  ///< pks__old_range with what is around them, in order, none overlaps or touches another
  pks__scratch pieces;  ///< pks__delta_piece
  pks__delta_hit *hits;  ///< PKS__DELTA_HITS_MAX
  uint32_t hit_count;
} pks__piece_chooser;

enum { PKS__DELTA_HITS_MAX = 32 * 1024 };

/// Finds the ranges for a group, of which `bytes` are the new bytes.
pks_status pks__piece_chooser_begin(
  pks__piece_chooser *chooser, const pks__delta_plan *plan, const pks__delta_index *index,
  const pks__planned_group *group, const uint8_t *bytes, pks_error *error
);

typedef enum pks__piece_choice { PKS__PIECES_WIDE, PKS__PIECES_NARROW, PKS__PIECE_CHOICES } pks__piece_choice;

/// Chooses pieces of at most `room` bytes together into `chooser->pieces`: in order of positions, apart from each other.
pks_status pks__piece_chooser_choose(
  pks__piece_chooser *chooser, pks__piece_choice choice, uint32_t room, pks_error *error
);
void pks__piece_chooser_free(pks__piece_chooser *chooser);

#endif
