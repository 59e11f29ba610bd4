/// The stored form of a part of a description: one byte that names the form, then the part itself.
///
/// A description is a list of small numbers that follow each other in few patterns. Unless it is long, adaptive coding with the two
/// bytes before each byte as its context takes half of the bytes of a zstd frame.
#ifndef PKS_DELTA_DELTA_PART_H
#define PKS_DELTA_DELTA_PART_H

#include "codec/codec.h"
#include "delta/delta.h"

/// The first byte of a part.
typedef enum pks__delta_part_form {
  PKS__DELTA_PART_RAW = 0,
  PKS__DELTA_PART_ZSTD = 1,
  PKS__DELTA_PART_CODED = 2,
} pks__delta_part_form;

/// Raw bytes of a coded part, at most: decoding takes about 40 ns a byte. Only the last part of a description may be coded.
enum { PKS__DELTA_PART_CODED_MAX = 256 * 1024 };
_Static_assert(PKS__DELTA_PART_CODED_MAX < PKS__DELTA_PART, "all parts but the last are longer");

/// Room that `pks__delta_part_encode` needs at most.
static inline size_t pks__delta_part_capacity(size_t raw_length) { return 1 + pks__encode_capacity(raw_length); }

/// Encodes a part in the shortest form. `out` has room as above. Errors: OUT_OF_MEMORY.
pks_status pks__delta_part_encode(
  pks__encoder *encoder, const uint8_t *raw, size_t raw_length, uint8_t *out, size_t *stored_length, pks_error *error
);

/// Decodes a part to exactly `raw_length` bytes. `*decodes` is false if its bytes are not such a part. Errors: OUT_OF_MEMORY.
pks_status pks__delta_part_decode(
  pks__decoder *decoder, const uint8_t *stored, size_t stored_length, uint8_t *out, size_t raw_length, bool *decodes,
  pks_error *error
);

#endif
