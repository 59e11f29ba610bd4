/// Origins: who a pack comes from, in what order they win, and how low their version numbers may go.
///
/// An *origin* is a publisher's root key together with the name of a product, or one of two without a key: *local*, for packs that
/// this machine added, and *unknown*, for packs that a repair found without a record of their origin. Unsigned packs have one
/// origin for each product, without a key. Every pack has one origin, and no other origin changes it unless the user allows it.
///
/// Origins have an order: packs of an earlier one win over packs of a later one, regardless of priorities. A new origin comes last.
/// The local origin exists from the beginning, so it comes first until the order is changed.
///
/// A *floor* records for an origin and a pack's name the version accepted last, and the statement (a root, an archive, a delta:
/// each has a sequence number that its publisher only raises). It outlives the removal of the pack.
///
/// Invariants
///   1. Numbers of origins are given once in the life of a store and never used again. Local is number 0.
///   2. The table lists the local origin once, the unknown one at most once, no key and product twice.
///   3. Floors stand in order of (origin number, pack name), each once, and name listed origins.
///   A zeroed table is valid: the local origin alone.
#ifndef PKS_STORE_ORIGIN_H
#define PKS_STORE_ORIGIN_H

#include "format/byte_writer.h"
#include "format/format.h"

enum { PKS__ORIGIN_LOCAL = 0 };  ///< the number of the local origin

enum { PKS__ROOT_KEY_SIZE = 32 };

typedef struct pks__origin {
  uint32_t number;
  pks_origin_kind kind;
  uint8_t key[PKS__ROOT_KEY_SIZE];     ///< the publisher's first root key; zeros unless signed
  char product[PKS__PRODUCT_MAX + 1];  ///< empty for local and unknown
} pks__origin;

typedef struct pks__floor {
  uint32_t origin;  ///< number
  char pack[PKS__PACK_NAME_MAX + 1];
  uint64_t version;     ///< accepted last, except versions that the user chose
  uint64_t sequence;    ///< the number of the statement that brought `version`
  uint64_t serial;      ///< the serial of the statement's delegation; 0: not signed
  bool lowered;         ///< that statement took a higher version back
  uint64_t epoch;       ///< highest epoch of an accepted offer; 0: none had one
  uint64_t taken_back;  ///< highest number that the publisher took back; 0: none is known
} pks__floor;

typedef struct pks__origin_table {
  uint32_t next_number;  ///< the next new origin's number; 0 means 1
  uint32_t count;        ///< 0 means the local origin alone
  pks__origin *origins;  ///< in order: the first one wins
  uint32_t floor_count;
  pks__floor *floors;
} pks__origin_table;

void pks__origins_free(pks__origin_table *table);
pks_status pks__origins_copy(const pks__origin_table *from, pks__origin_table *out, pks_error *error);

uint32_t pks__origins_count(const pks__origin_table *table);
pks_origin pks__origins_at(const pks__origin_table *table, uint32_t rank);  ///< `rank` < count (asserted)
/// Returns the position of an origin in the order, from 0; UINT32_MAX if no origin has that number.
uint32_t pks__origins_rank(const pks__origin_table *table, uint32_t number);
/// As the public header shows an origin, and back. The number that comes back is 0.
pks_origin pks__origin_public(const pks__origin *origin);
/// False when kind, key and product do not belong together.
bool pks__origin_read(const pks_origin *origin, pks__origin *out);

/// Returns the number of the origin equal to `origin` apart from its number, or UINT32_MAX.
uint32_t pks__origins_find(const pks__origin_table *table, const pks__origin *origin);
/// The same; an origin that is not listed is added as the last.
pks_status pks__origins_add(pks__origin_table *table, const pks__origin *origin, uint32_t *number, pks_error *error);
/// Returns the origin with a number; false if none has it.
bool pks__origins_get(const pks__origin_table *table, uint32_t number, pks__origin *out);
/// Takes the origin at one place of the order to another.
pks_status pks__origins_move(pks__origin_table *table, uint32_t from, uint32_t to, pks_error *error);
/// Drops an origin with its floors. No pack may have it; local stays.
void pks__origins_remove(pks__origin_table *table, uint32_t number);

/// The floor of an origin's pack, or NULL. O(log n).
const pks__floor *pks__origins_floor(const pks__origin_table *table, uint32_t origin, const char *pack);
/// Replaces a floor. INVALID_ARGUMENT if there are too many.
pks_status pks__origins_set_floor(pks__origin_table *table, const pks__floor *floor, pks_error *error);
/// Drops all floors of an origin.
void pks__origins_remove_floors(pks__origin_table *table, uint32_t number);

/// Whether a floor has an epoch or a number that was taken back: then the generation needs PKS__FEATURE_EPOCHS.
bool pks__origins_have_epochs(const pks__origin_table *table);
/// Writes the table: le32 the next number, the origins with their count, the floors with theirs.
///
/// `has_epochs`: floors are written with the fields of PKS__FEATURE_EPOCHS.
void pks__origins_write(pks__byte_writer *pen, const pks__origin_table *table, bool has_epochs);
/// Reads it. False when memory is short; bad bytes set `reader->failed`. To be freed in any case.
bool pks__origins_read(pks__reader *reader, bool has_epochs, pks__origin_table *out);

#endif
