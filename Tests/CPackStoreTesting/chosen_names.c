#include "include/ChosenNames.h"

#include "codec/checksum.h"

void chosen_names_next(chosen_names *names, char out[17]) {
  uint64_t bucket;
  do {
    pks__hex64(names->next++, out);
    uint64_t hash =
      names->hasher ? pks__bucket_hash(pks__path_hash(names->hasher, out, 16), names->salt) : pks__checksum(out, 16);
    bucket = pks__bucket_of(hash, names->bucket_count);
  } while (bucket != 0);
}
