/// Who may change a pack, and to which version: the one place where origins and floors (`origin.h`) are enforced.
///
/// A statement means "the current version of this pack is v". It comes from an origin, and has a sequence number q under the serial
/// S of a delegation.
///   - Binding: only origin A may change a pack of origin A, current or removed with its history kept, unless the statement
///     adopts it. The unknown origin owns only existing packs: such a pack is always adopted.
///   - Floor: (serial F, version f, sequence s, epoch k, taken back W) of the origin and the pack's name. A root offers
///     version v in epoch e, and H is the highest number that its channel ever offered of the pack. V is `revoked_below`.
///       F < V                            accepted; the floor begins again. A thief may have published under F, so kept
///                                        content of the same number gives way.
///       S < F                            refused: the key that signed was replaced.
///     otherwise, for a root
///       e < k                            refused: an older state was signed again.
///       v >= f                           accepted; the floor is (v, e). Other content under a kept number is refused
///                                        elsewhere (EXISTS).
///       v < f, e > k and H >= f          accepted: a withdrawal; the floor is (v, e), and W = H.
///       v < f, v is current              accepted; the floor stays.
///       v < f, f is `excluded`           accepted; the floor stays.
///       v < f otherwise                  refused.
///     and for any other statement
///       v > f and v <= W                 refused: the publisher took v back.
///       v >= f otherwise                 accepted; the floor is v.
///       v < f                            refused, unless v is current.
///     A floor of an earlier library may be lowered without W: then v > f with S = F and q <= s is refused.
///     The error is STALE for a root with S < F, or S = F and q < s, else DOWNGRADE. `downgrade` accepts the statement, and
///     the floor stays.
///   - Adoption begins the floor again, and the pack: kept versions and taken numbers were another origin's.
/// The local origin has no floors: its numbers are chosen here.
///
/// It is judged when a change is staged, and again when it is applied to a newer generation.
#ifndef PKS_COMMIT_PROVENANCE_H
#define PKS_COMMIT_PROVENANCE_H

#include "store/generation.h"

/// The effects of a statement, once it is allowed.
typedef struct pks__verdict {
  bool adopts;        ///< the pack changes its origin
  bool sets_floor;    ///< to `floor`, except its origin number
  bool raises_epoch;  ///< the floor begins, or its epoch rises
  pks__floor floor;
} pks__verdict;

/// Whether `by` may make `version` the current one of the pack; with 0, whether it may change the pack at all. Errors:
/// INVALID_ARGUMENT (no such origin can be), OTHER_ORIGIN, DOWNGRADE, STALE.
pks_status pks__provenance_judge(
  const pks_provenance *by, const char *pack, uint64_t version, const pks__generation *in, pks__verdict *out,
  pks_error *error
);

/// Whether the origin of `by` never stated the contents of `version`: its number is above the origin's floor, or the floor is no
/// longer valid. A repair that lost assets stores the rest under such a number, and a later publication of the origin with that
/// number replaces it.
bool pks__provenance_is_unstated(
  const pks_provenance *by, const char *pack, uint64_t version, const pks__generation *in
);

/// Applies a verdict to pack number `index` of `to`, whose version has just become current: origin, floor, and for an adoption the
/// end of its history. Ranks change.
pks_status pks__provenance_settle(
  const pks_provenance *by, const pks__verdict *verdict, pks__generation *to, uint32_t index, pks_error *error
);

/// The statement that a copy of the pack's version `version` out of `source` makes: the origin's, as the source heard it.
void pks__provenance_of_copy(const pks__generation *source, const char *pack, uint64_t version, pks_provenance *out);

#endif
