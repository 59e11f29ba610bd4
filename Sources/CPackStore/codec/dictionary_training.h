/// Training a dictionary: from a sample, the bytes that its parts have in common, for `pks__encoding_dictionary_create`.
///
/// Its source is the only file that includes `zdict.h`. That takes its memory from `malloc`, and gives no other choice: 3.3 MiB
/// with libzstd 1.5, whatever the length of the sample.
#ifndef PKS_CODEC_DICTIONARY_TRAINING_H
#define PKS_CODEC_DICTIONARY_TRAINING_H

#include "base/base.h"

/// The largest sample, bytes.
enum { PKS__TRAINING_SAMPLE_MAX = 4 * 1024 * 1024 };

/// Trains a dictionary of at most `capacity` bytes to `out`, from a sample of `count` parts that lie back to back and have the
/// lengths `lengths`. Returns its length, or 0 when the sample is too small, has nothing in common, or memory is short. A pure
/// function of the sample, the capacity, the level and libzstd's version. Any number of threads at once: what libzstd 1.5 shares
/// between them is how much it prints, which all set to nothing. O(sample).
size_t pks__train_dictionary(
  const void *sample, const size_t *lengths, unsigned count, int level, void *out, size_t capacity
);

#endif
