/// Trains a dictionary: selects the bytes that parts of a sample have in common, for `pks__encoding_dictionary_create`.
///
/// Its source is the only file that includes `zdict.h`, which allocates with `malloc`, without an alternative: 3.3 MiB with libzstd
/// 1.5, for samples of any length.
#ifndef PKS_CODEC_DICTIONARY_TRAINING_H
#define PKS_CODEC_DICTIONARY_TRAINING_H

#include "base/base.h"

/// The largest sample, bytes.
enum { PKS__TRAINING_SAMPLE_MAX = 4 * 1024 * 1024 };

/// Trains a dictionary of at most `capacity` bytes to `out`, from a sample of `count` consecutive parts with the lengths `lengths`.
/// Returns its length, or 0 if the sample is too small, has nothing in common, or memory is short. A pure function of the sample,
/// the capacity, the level and libzstd's version. Any number of threads at once: libzstd 1.5 shares only its verbosity between
/// them, which all set to zero. O(sample).
size_t pks__train_dictionary(
  const void *sample, const size_t *lengths, unsigned count, int level, void *out, size_t capacity
);

#endif
