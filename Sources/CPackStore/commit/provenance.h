/// Who may change a pack, and to which version: the one place where origins and floors (`origin.h`) are enforced.
///
/// A statement says "the current version of this pack is v". It comes from an origin, and has a sequence number q under
/// the serial S of a delegation.
///   - Binding: a pack of origin A, current or removed with its history kept, is changed by A alone, unless the statement
///     adopts. Nothing is of the unknown origin but what is there already: such a pack is always adopted.
///   - Floor: (serial F, version f, sequence s, lowered) of the origin and the pack's name.
///       S < F                          refused: the key that signed was replaced.
///       S > F                          taken; the floor is (S, v, q). What was accepted under F may have been a thief's,
///                                      and so may other content under the number v: it gives way.
///     and with S = F
///       v > f, not lowered, or q > s   taken; the floor is (v, max(q, s)).
///       v > f, lowered, and q <= s     refused: a newer statement took v back.
///       v = f                          taken. Other content under a number that is kept is refused elsewhere (EXISTS).
///       v < f, a root, and q > s       taken: a withdrawal; the floor is (v, q, lowered).
///       v < f otherwise                refused.
///     What is refused is STALE for a root with S < F, or q <= s, else DOWNGRADE. `downgrade` takes it all the same, and the
///     floor stays.
///   - Adoption begins the floor again, and the pack: kept versions and taken numbers were another origin's.
/// The local origin has no floors: its numbers are chosen here.
///
/// It is judged when a change is staged, and again when it is applied to a newer generation.
#ifndef PKS_COMMIT_PROVENANCE_H
#define PKS_COMMIT_PROVENANCE_H

#include "store/generation.h"

/// What a statement does, once it is allowed.
typedef struct pks__verdict {
  bool adopts;      ///< the pack changes its origin
  bool sets_floor;  ///< to `floor`, but for the number of the origin
  pks__floor floor;
} pks__verdict;

/// Whether `by` may make `version` the current one of the pack; with 0, whether it may change the pack at all. Errors:
/// INVALID_ARGUMENT (no such origin can be), OTHER_ORIGIN, DOWNGRADE, STALE.
pks_status pks__provenance_judge(
  const pks_provenance *by, const char *pack, uint64_t version, const pks__generation *in, pks__verdict *out,
  pks_error *error
);

/// Whether the origin of `by` never said what `version` of the pack is: its number is above the origin's floor, or the
/// floor does not count any more. A repair that lost assets stores the rest under such a number, and what the origin
/// publishes under it later takes its place.
bool pks__provenance_is_unstated(
  const pks_provenance *by, const char *pack, uint64_t version, const pks__generation *in
);

/// Carries out a verdict on pack number `index` of `to`, of which `version` has just become current: origin, floor, and
/// with an adoption the end of its history. Ranks move.
pks_status pks__provenance_settle(
  const pks_provenance *by, const pks__verdict *verdict, pks__generation *to, uint32_t index, pks_error *error
);

/// The statement that a copy of the pack's version `version` out of `source` makes: the origin's, as the source heard it.
void pks__provenance_of_copy(const pks__generation *source, const char *pack, uint64_t version, pks_provenance *out);

#endif
