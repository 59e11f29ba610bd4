/// PackStore: an embedded, content-addressed store for asset packs.
///
/// Concepts
/// - An *asset* is one file. A *pack* is a named, versioned set of assets, added from a folder. A *store* is a directory that
///   contains packs.
/// - Assets are split by content into *chunks*. The SHA-256 of its raw bytes identifies a chunk. A store keeps each chunk once,
///   even if several files, packs or versions contain it.
/// - Neighbouring new chunks are compressed together as *frames* in immutable *segment* files.
/// - Each pack adds its paths to one merged namespace. If two packs have the same path, the pack with the higher priority wins.
///
/// Reading: open a store, open a *snapshot* of its newest *generation* (the set of pack versions at one moment), find assets and
/// read them. A snapshot never changes and stays readable, even if other writers commit, remove packs or collect garbage.
///
///     pks_asset asset;
///     pks_snapshot *snapshot = NULL;
///     pks_status status = pks_snapshot_open(&snapshot, store, &error);
///     if (!status) { status = pks_snapshot_find(&asset, snapshot, "a.png", 5, PKS_ANY_PACK, &error); }
///     if (!status) { status = pks_asset_read(&asset, 0, buffer, asset.size, &error); }
///     pks_snapshot_close(snapshot);
///
/// Writing: begin a *transaction*, add folders or remove packs, commit. A commit changes any number of packs in one atomic step:
/// after a crash at any instant, a store opens at the complete old generation or the complete new one. Staging takes no lock, so
/// several processes can stage at once. A commit holds the writer's lock for milliseconds.
///
///     pks_add_request request = {.pack = "Tutorial", .folder = "Assets/Tutorial"};
///     pks_txn *txn = NULL;
///     pks_status status = pks_txn_begin(&txn, store, NULL, &error);
///     if (!status) { status = pks_txn_add_folder(NULL, txn, &request, &error); }
///     if (!status) {
///       status = pks_txn_commit(txn, NULL, &error);  // ends the transaction, even if it fails
///     } else {
///       pks_txn_abort(txn);
///     }
///
/// Rules for all headers
/// - Threads: any number of threads may use a store or a snapshot at the same time. Only one thread at a time may use a
///   transaction, a cursor, a delivery or a change lister.
/// - Ownership: the caller closes everything that an `..._open` or `..._begin` function returns. Close a store last, after its
///   snapshots, cursors and transactions; the order of these does not matter.
/// - Borrowed memory: `pks_bytes`, paths and names belong to the library. The comment of each states how long they stay valid, at
///   most until their snapshot closes.
/// - Parameters: usually outputs first, then the object of the call, then its inputs, and `error` last. `pks_asset_read` and
///   `pks_asset_read_while` take the asset first.
/// - NULL: only pointers marked PKS_NULLABLE may be NULL (`packstore_base.h`).
/// - Errors: a call that can fail returns a `pks_status` and fills in `*error` if `error` is not NULL. It writes its outputs only
///   on success.
/// - SHA-256: the core contains no cryptography. The caller provides SHA-256 (`pks_options.sha256`); without it, a store opens for
///   reading only.
/// - Fork: a forked child must open the store again. A call on a handle of the parent returns PKS_FORKED; this check needs no
///   system call. Closing inherited handles in the child is safe: it releases descriptors, but not memory. Until the child closes
///   the store, calls exec or exits, it shares the parent's locks, so files that the parent was reading are not collected. A child
///   that was forked in a callback must not return from this callback.
///
/// Memory mapping. Index files, the control file, borrowed raw assets, and contents that are raw or cached are memory-mapped. If
/// another process truncates such a file, reading the mapping raises SIGBUS, as with any mapped file. Do not map files that
/// untrusted users can write. Checksums verify every byte of assets and indexes on first access.
///
/// This header includes all others except `packstore_vfs.h`, which only programs with their own file system need.
#ifndef PACKSTORE_H
#define PACKSTORE_H

#include "packstore_admin.h"
#include "packstore_base.h"
#include "packstore_read.h"
#include "packstore_transfer.h"
#include "packstore_write.h"

#endif
