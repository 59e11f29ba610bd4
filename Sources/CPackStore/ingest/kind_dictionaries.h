/// The dictionaries of an add: one for each kind of small assets for which one pays.
///
/// Definitions
///   small  an asset that may share a frame with others: less than PKS__LARGE_ASSET bytes.
///   kind   small assets whose names end alike, from the last dot on, in lower case; those that have no such ending are one
///          kind. The kinds with most bytes count, PKS__KINDS_MAX of them; all others are one more.
///
/// A pack's texts, textures and scripts have little in common with each other and much among themselves; so the ending of the
/// name is a good guess, and costs nothing.
///
/// `ingest/dictionary_trainer.h` fills them in; from then on they only are read.
#ifndef PKS_INGEST_KIND_DICTIONARIES_H
#define PKS_INGEST_KIND_DICTIONARIES_H

#include "ingest/frame_pipeline.h"

enum {
  PKS__KINDS_MAX = 4,
  PKS__KIND_NAME = 16,  ///< the longest ending, bytes; longer ones are none
};

typedef struct pks__kind_name {
  char bytes[PKS__KIND_NAME];  ///< filled up with zeros
} pks__kind_name;

typedef struct pks__kind_dictionary {
  pks__kind_name name;
  pks__frame_dictionary dictionary;  ///< `tables` NULL: none pays
} pks__kind_dictionary;

typedef struct pks__kind_dictionaries {
  pks__kind_dictionary kinds[PKS__KINDS_MAX + 1];  ///< the last one is all others
  uint32_t count;                                  ///< kinds that have a name
  uint64_t stored_bytes;                           ///< of all dictionaries
} pks__kind_dictionaries;

pks__kind_name pks__kind_name_of(const char *path, size_t path_length);

/// The kind that a name belongs to: an index in `kinds`.
uint32_t pks__kind_dictionaries_find(const pks__kind_dictionaries *dictionaries, const pks__kind_name *name);

/// The dictionary for an asset, NULL: none.
const pks__frame_dictionary *pks__kind_dictionaries_for(
  const pks__kind_dictionaries *dictionaries, const char *path, size_t path_length, uint64_t size, bool mapped
);

void pks__kind_dictionaries_free(pks__kind_dictionaries *dictionaries);  ///< a zeroed one is fine

#endif
