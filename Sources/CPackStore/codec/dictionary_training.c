// The selection of common content is "FastCover" of libzstd (based on Liao, Petri, Moffat, Wirth: "Effective construction of
// relative Lempel-Ziv dictionaries", WWW 2016). Its parameters are fixed, not searched for: Decision 0026 has the measurements.

#define ZDICT_STATIC_LINKING_ONLY
#include "codec/dictionary_training.h"

#include <zdict.h>

size_t pks__train_dictionary(
  const void *sample, const size_t *lengths, unsigned count, int level, void *out, size_t capacity
) {
  ZDICT_fastCover_params_t parameters = {
    .k = 512,    // bytes of a stretch that is chosen
    .d = 8,      // bytes that are looked for together
    .f = 18,     // bits of the table that counts them
    .accel = 4,  // counts every fourth place
    .zParams = {.compressionLevel = level, .notificationLevel = 0, .dictID = 1},
  };
  size_t length = ZDICT_trainFromBuffer_fastCover(out, capacity, sample, lengths, count, parameters);
  return ZDICT_isError(length) ? 0 : length;
}
