/// Comparing what a store shows with what it should show. Every function returns false after noting a failure.
#ifndef TORTURE_CHECK_H
#define TORTURE_CHECK_H

#include "failure.h"
#include "state.h"

/// Memory and numbers of one thread that checks.
typedef struct checker {
  uint8_t *buffer;  ///< CONTENT_SIZE_MAX bytes
  uint64_t random;  ///< state of its own generator
  uint64_t reads;   ///< assets compared, whole or in part
  uint64_t bytes;   ///< of them
  uint64_t wrong;   ///< of them, not what they should be
  failure *failure;
} checker;

/// By which of the core's ways an asset is read.
typedef enum reading {
  READING_WHOLE,
  READING_RANGE,
  READING_BORROW,
  READING_CONTENTS,
  READING_FILE,
  READING_COUNT
} reading;

/// The packs, their order, priorities and kept versions.
bool check_packs(checker *checker, const pks_snapshot *snapshot, const store_state *state);

/// One asset in the merged namespace: which pack it comes from, and its bytes.
bool check_asset(
  checker *checker, const pks_snapshot *snapshot, const store_state *state, uint32_t pack, uint32_t asset,
  reading reading
);

/// The listing holds what it must, and nothing else.
bool check_listing(checker *checker, const pks_snapshot *snapshot, const store_state *state);

/// All of the above, every asset whole.
bool check_everything(checker *checker, const pks_snapshot *snapshot, const store_state *state);

/// How thoroughly `check_structure` looks.
enum {
  CHECK_DEEP = 1,  ///< at every chunk
  CHECK_TORN_COPY =
    2,  ///< a damaged copy of a control slot is what a kill within its write leaves, until the next commit
};

/// Every checksum and reference of the generation.
bool check_structure(checker *checker, const pks_snapshot *snapshot, uint32_t how);

#endif
