/// How an add puts small assets into frames: a form for each kind of them.
///
/// Definitions
///   small  an asset that may share a frame with others: less than PKS__LARGE_ASSET bytes.
///   kind   small assets with the same file name extension, in lower case; files without one are one kind. The
///          PKS__KINDS_MAX kinds with the most bytes are separate; all others are one more.
///
/// A pack's texts, textures and scripts have little in common with each other and much among themselves; so the ending of the
/// name is a good guess, and costs nothing.
///
/// `ingest/frame_grouping_samples.h` finds the kinds, `ingest/frame_grouping.h` their forms; from then on they only are read.
#ifndef PKS_INGEST_FRAME_GROUPING_KINDS_H
#define PKS_INGEST_FRAME_GROUPING_KINDS_H

#include "ingest/frame_pipeline.h"

enum {
  PKS__KINDS_MAX = 4,
  PKS__KIND_NAME = 16,  ///< the longest ending, bytes; longer ones are none
};

typedef struct pks__kind_name {
  char bytes[PKS__KIND_NAME];  ///< filled up with zeros
} pks__kind_name;

typedef struct pks__kind_form {
  pks__kind_name name;
  pks__frame_form form;
  pks__frame_dictionary dictionary;  ///< that `form` may have; zeroed: none
} pks__kind_form;

typedef struct pks__frame_grouping_kinds {
  pks__kind_form kinds[PKS__KINDS_MAX + 1];  ///< the last one is all others
  uint32_t count;                            ///< kinds that have a name
  bool any_is_alone;
} pks__frame_grouping_kinds;

void pks__frame_dictionary_free(pks__frame_dictionary *dictionary);  ///< leaves it zeroed; a zeroed one is fine

pks__kind_name pks__kind_name_of(const char *path, size_t path_length);

/// The kind that a name belongs to: an index in `kinds`.
uint32_t pks__frame_grouping_kinds_find(const pks__frame_grouping_kinds *forms, const pks__kind_name *name);

/// The form for an asset; NULL if it is not small.
const pks__frame_form *pks__frame_grouping_kinds_for(
  const pks__frame_grouping_kinds *forms, const char *path, size_t path_length, uint64_t size, bool mapped
);

void pks__frame_grouping_kinds_free(pks__frame_grouping_kinds *forms);  ///< a zeroed one is fine

#endif
