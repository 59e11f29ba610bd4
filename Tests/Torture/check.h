/// Compares a store's contents with the expected contents. Every function returns false after recording a failure.
#ifndef TORTURE_CHECK_H
#define TORTURE_CHECK_H

#include "failure.h"
#include "state.h"

/// Memory and counts of one checking thread.
typedef struct checker {
  uint8_t *buffer;  ///< CONTENT_SIZE_MAX bytes
  uint64_t random;  ///< state of its own generator
  uint64_t reads;   ///< assets compared, whole or in part
  uint64_t bytes;   ///< in these assets
  uint64_t wrong;   ///< assets with unexpected bytes
  failure *failure;
} checker;

/// The ways in which the core reads an asset.
typedef enum reading {
  READING_WHOLE,
  READING_RANGE,
  READING_BORROW,
  READING_CONTENTS,
  READING_FILE,
  READING_COUNT
} reading;

/// Checks the packs, their order, priorities and kept versions.
bool check_packs(checker *checker, const pks_snapshot *snapshot, const store_state *state);

/// Checks one asset in the merged namespace: its pack and its bytes.
bool check_asset(
  checker *checker, const pks_snapshot *snapshot, const store_state *state, uint32_t pack, uint32_t asset,
  reading reading
);

/// Checks that the listing contains the expected entries, and nothing else.
bool check_listing(checker *checker, const pks_snapshot *snapshot, const store_state *state);

/// Checks all of the above, and reads every asset completely.
bool check_everything(checker *checker, const pks_snapshot *snapshot, const store_state *state);

/// Options of `check_structure`.
enum {
  CHECK_DEEP = 1,  ///< checks every chunk
  CHECK_TORN_COPY =
    2,  ///< permits one damaged copy of a control slot: a kill during its write leaves it until the next commit
};

/// Checks every checksum and reference of the generation.
bool check_structure(checker *checker, const pks_snapshot *snapshot, uint32_t how);

#endif
