/// Choosing how small assets of each kind are put into frames (`ingest/frame_grouping_kinds.h`), before the first pass of an
/// add: shared, alone, or alone with a dictionary that is trained for them.
///
/// Definitions
///   stretch  neighbours of a kind, in order of paths, of about one shared frame together.
///   sample   stretches of a kind, at equal distances: a sixteenth of its bytes, from 256 KiB to 2 MiB. Every fourth stretch
///            is a test stretch: the others train the dictionary, and these measure the gain.
///   mixture  stretches of all small assets, of 128 KiB, sampled in the same way.
///   pays     the test stretches, extrapolated to the new bytes of the kind, take at most a 64th more than in shared frames
///            (`ingest/frame_grouping_cost.h`), including dictionary and rows. A kind stays alone if that
///            pays, with a dictionary if it takes less with one.
///
/// An asset that stays alone ends the frame shared by the assets before it. So the mixture is tested as well: if it takes over a
/// hundredth more than in shared frames, only kinds with dictionaries stay alone, or none. Without a dictionary, a kind stays alone
/// only if most of its sample is new, because a few new chunks of an asset do not justify a frame.
///
/// The sample also determines whether content is new: an update with little new content can gain little, and a dictionary, copied
/// to every segment, would cost space. Stored frames keep their dictionary. New content gets one of its own if that pays, and if
/// the pack's current version has so few that all stay within PKS__DICTIONARIES_MAX.
///
/// Deterministic: depends only on the folder, the request, libzstd's version and the store's previous contents. Memory: the
/// samples, in scratch memory, of at most twice PKS__TRAINING_SAMPLE_MAX for each kind and once for the mixture; and the memory
/// stated in `codec/dictionary_training.h`, for each thread, because kinds are tested in parallel.
#ifndef PKS_INGEST_FRAME_GROUPING_H
#define PKS_INGEST_FRAME_GROUPING_H

#include "ingest/frame_grouping_samples.h"

/// Fills in `ingest->forms`, once the ingest's parts are open: with the dictionary in the request for all kinds, or with the forms
/// that pay. An unreadable file is not sampled: the first pass reports it. Errors: of the walk, the store, and memory.
pks_status pks__frame_grouping_run(pks__ingest *ingest, const pks__sample_source *source, pks_error *error);

#endif
