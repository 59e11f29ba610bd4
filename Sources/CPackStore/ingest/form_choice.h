/// Choosing how small assets of each kind are put into frames (`ingest/kind_forms.h`), before the first pass of an add: shared,
/// alone, or alone with a dictionary that is trained for them.
///
/// Definitions
///   stretch  neighbours of a kind, in order of paths, of about one shared frame together.
///   sample   stretches of a kind, at equal distances: a sixteenth of its bytes, from 256 KiB to 2 MiB. Every fourth stretch
///            is kept apart: the others are trained with, these tell what pays.
///   mixture  stretches of all small assets, of 128 KiB, sampled likewise.
///   pays     what is kept apart, extrapolated to what is new of the kind, takes at most a 64th more than in shared frames
///            (`ingest/form_cost.h`), dictionary and rows included. A kind stays alone if that pays, with a dictionary if it
///            takes less with one.
///
/// An asset that stays alone ends the frame that those before it share. So the mixture is tried as well: if it takes more than
/// a hundredth more than in shared frames, only the kinds that have dictionaries stay alone, or none. Without a dictionary a kind
/// stays alone only if most of its sample is new, for a few new chunks of an asset are worth no frame.
///
/// Whether content is new is asked of the sample: in an update of which little is new, little could be gained, and a dictionary of
/// which each segment has a copy would cost. Frames that are stored keep the dictionary they have; what is new gets one of its own
/// where it pays, as long as the pack's current version has so few that all stay within PKS__DICTIONARIES_MAX.
///
/// Deterministic: a function of the folder, of the request, of libzstd's version and of what the store held before. Memory: the
/// samples, in scratch memory, of at most twice PKS__TRAINING_SAMPLE_MAX for each kind and once for the mixture; and what
/// `codec/dictionary_training.h` says, for each thread, as kinds are tried at the same time.
#ifndef PKS_INGEST_FORM_CHOICE_H
#define PKS_INGEST_FORM_CHOICE_H

#include "ingest/form_samples.h"

/// Fills in `ingest->forms`, once the ingest's parts are open: with the dictionary that the request brings for all kinds, or with
/// what pays. A file that cannot be read is not sampled: the first pass says so. Errors: of the walk, the store, and memory.
pks_status pks__form_choice_run(pks__ingest *ingest, const pks__sample_source *source, pks_error *error);

#endif
