/// PackStore: an embedded, content-addressed store for asset packs.
///
/// The idea. A *pack* is a named, versioned set of *assets*: the files of a folder. A *store* is a directory that holds
/// any number of packs. Assets are cut into *chunks* by content; a chunk is named by the SHA-256 of its bytes and
/// stored once, however many files, packs and versions contain it. Neighbouring new chunks are compressed together as
/// *frames* in immutable *segment* files. Every pack contributes its paths to one merged namespace, in which the pack
/// of highest priority wins.
///
/// Reading. Open a store, take a *snapshot* (one *generation*: which pack versions the store shows at one moment), find
/// assets in it and read them. A snapshot never changes and never breaks, whatever is committed, removed or collected
/// meanwhile.
///
/// Writing. Begin a *transaction*, add folders or remove packs, commit. A commit of any number of packs is one atomic
/// switch: after a crash at any instant a store opens at the old generation or at the new one, whole. Staging takes no
/// lock: many processes may stage at once, and each commit holds the writer's lock for milliseconds.
///
/// Rules
/// - Threads: a store and a snapshot may be used by any number of threads at once; a transaction and a cursor by one
///   at a time.
/// - Ownership: what `..._open`, `..._begin` return is closed by the caller, in any order but a store after its
///   snapshots, cursors and transactions.
/// - Loans (`pks_bytes`, paths, names) say until when they last; it is never longer than their snapshot.
/// - Parameters: outputs first, then what the call is about, then what is asked of it, and `error` last; `pks_asset_read`
///   alone keeps the order of `pread`.
/// - NULL: a pointer that may be NULL is marked PKS_NULLABLE, and no other may (`packstore_base.h`).
/// - Errors: every call that can fail returns a `pks_status` and fills `*error` when `error` is not NULL. Outputs are
///   written only on success.
/// - The core has no cryptography: SHA-256 comes from the caller (`pks_options.sha256`). Without it a store opens for
///   reading only.
/// - A forked child opens the store again: a call that touches one that was opened before is PKS_FORKED, and costs no
///   system call to tell. What it closes of its parent's does the parent no harm, and gives back descriptors, not memory. Until
///   it closes the store, or calls exec, or ends, it holds locks with its parent: what its parent read is not collected.
///   It does not return from a callback in which it was forked.
///
/// Caveats. Index files, the control file, borrowed raw assets, and contents that are raw or in the cache are
/// memory-mapped. If another process truncates these files, touching them raises SIGBUS, as with any mapped file; do not
/// map what untrusted users can write. Every byte of assets and indexes is verified by a checksum when first touched.
///
/// This header includes all others but `packstore_vfs.h`, for those that bring a file system of their own.
#ifndef PACKSTORE_H
#define PACKSTORE_H

#include "packstore_admin.h"
#include "packstore_base.h"
#include "packstore_read.h"
#include "packstore_transfer.h"
#include "packstore_write.h"

#endif
