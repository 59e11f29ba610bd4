/// packmanaged: the managed client in C.
///
/// What `ManagedPacks` is in Swift: an app says which group it belongs to and from which sites its packs come; packs come by policy
/// and on request, are kept up to date, and show as one namespace of files. `Docs/BackgroundAssets.md` says what the calls mean;
/// the names here are those of the Swift calls.
///
/// Rules
/// - Threads: a manager may be used by any number of threads at once. Calls that say that they wait block the calling thread until
///   the work is done: do not call them on a thread that must not stop, and not in a callback. All others return at once.
/// - Ownership: what a call hands out through its first argument is the caller's, who gives it back by the function that the
///   type names. A manager may be closed while another thread still waits in it. Texts within such a value live as long as it does.
/// - Callbacks come on one thread of the library at a time, in the order in which things happened. What they are lent ends when
///   they return.
/// - NULL: a pointer that may be NULL is marked PKM_NULLABLE, and no other may. Texts are UTF-8 and end with a zero; what is not is
///   an error or, of a name that is asked for, not found.
/// - Errors: a call that can fail returns a `pkm_status`, and fills `*error` when `error` is not NULL. Outputs are written only on
///   success.
/// - A forked child must not use a manager of its parent.
#ifndef PACKMANAGED_H
#define PACKMANAGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __clang__
  #define PKM_NULLABLE _Nullable
  #define PKM_NONNULL _Nonnull
  #define PKM_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
  #define PKM_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#else
  #define PKM_NULLABLE
  #define PKM_NONNULL
  #define PKM_ASSUME_NONNULL_BEGIN
  #define PKM_ASSUME_NONNULL_END
#endif

PKM_ASSUME_NONNULL_BEGIN

// MARK: - Errors

/// What came of a call. The numbers stay.
typedef enum pkm_status {
  PKM_OK = 0,
  PKM_CANCELLED = 1,             ///< the download was cancelled
  PKM_ASSET_PACK_NOT_FOUND = 2,  ///< no site offers such a pack, and it is not here
  PKM_FILE_NOT_FOUND = 3,        ///< no pack that is here has such a file
  PKM_LOCAL_AVAILABILITY = 4,    ///< some of several packs are not here
  PKM_CONFIGURATION = 5,         ///< no property list, or one that makes no sense; or the group's folder cannot be used
  PKM_INVALID_ARGUMENT = 6,      ///< a path that leaves the namespace, a language that is none
  PKM_DELIVERY = 7,              ///< the network, the site, or its signature
  PKM_NO_SPACE = 8,              ///< too little room on the disk
  PKM_STORE = 9,                 ///< the store on this machine: damage, a purged file, a system call that failed
  PKM_OTHER = 10
} pkm_status;

/// `PKM_OK`, ... For messages to developers.
const char *pkm_status_name(pkm_status status);

typedef struct pkm_error {
  pkm_status status;
  char message[1024];  ///< a sentence with a remedy, cut off where it is longer
} pkm_error;

// MARK: - Managers

typedef struct pkm_manager pkm_manager;

/// A manager, set up by a property list: a file of XML, JSON or the binary form. NULL: the one that the variable
/// `PACKSTORE_BACKGROUND_ASSETS` names, or that lies beside the program. Asks no site. Closed by `pkm_manager_close`.
pkm_status pkm_manager_open(
  pkm_manager *PKM_NULLABLE *PKM_NONNULL out, const char *PKM_NULLABLE property_list, pkm_error *PKM_NULLABLE error
);

/// Gives a manager back; NULL is fine. Downloads that are under way go on as long as the process does; no callback comes any more.
void pkm_manager_close(pkm_manager *PKM_NULLABLE manager);

// MARK: - Packs

/// What is known of a pack here and on its site: bits, as `AssetPack.Status` has them.
enum {
  PKM_DOWNLOAD_AVAILABLE = 1 << 0,
  PKM_UPDATE_AVAILABLE = 1 << 1,
  PKM_UP_TO_DATE = 1 << 2,
  PKM_OUT_OF_DATE = 1 << 3,
  PKM_OBSOLETE = 1 << 4,
  PKM_DOWNLOADING = 1 << 5,
  PKM_DOWNLOADED = 1 << 6
};

/// A pack as a site offers it.
typedef struct pkm_pack {
  const char *id;
  uint64_t version;
  uint64_t download_bytes;             ///< what a device that has nothing fetches for it
  const char *PKM_NULLABLE language;   ///< a language tag; NULL: it is for every language
  const char *PKM_NULLABLE user_info;  ///< the JSON that its publisher attached; NULL: none
} pkm_pack;

/// The packs that are offered to the app, in order of their ids. Given back by `pkm_manifest_free`.
typedef struct pkm_manifest {
  size_t count;
  const pkm_pack *PKM_NULLABLE packs;
} pkm_manifest;

/// Asks the sites. Waits.
pkm_status pkm_manager_manifest(pkm_manifest *out, pkm_manager *manager, pkm_error *PKM_NULLABLE error);
void pkm_manifest_free(pkm_manifest *manifest);

/// What is here of a pack and what is offered. Asks the sites; waits.
pkm_status pkm_manager_status(uint32_t *out, pkm_manager *manager, const char *pack, pkm_error *PKM_NULLABLE error);
/// What can be said without asking a site; 0 for a pack that is not here. Waits for the disk at most.
uint32_t pkm_manager_local_status(pkm_manager *manager, const char *pack);
/// Whether a pack is here, whole. Some microseconds at most.
bool pkm_manager_is_available_locally(pkm_manager *manager, const char *pack);
/// The version of a pack that is here. Errors: PKM_ASSET_PACK_NOT_FOUND.
pkm_status pkm_manager_local_version(
  uint64_t *out, pkm_manager *manager, const char *pack, pkm_error *PKM_NULLABLE error
);

// MARK: - Downloads

/// Returns when packs are here, whole: at once for those that are; the others are fetched. Waits.
///
/// `requires_latest`: an update is waited for, too. Errors: PKM_LOCAL_AVAILABILITY, whose message names each pack that did not
/// come, where `count` is not 1; else what kept the pack from coming.
pkm_status pkm_manager_ensure(
  pkm_manager *manager, const char *PKM_NONNULL const *PKM_NONNULL packs, size_t count, bool requires_latest,
  pkm_error *PKM_NULLABLE error
);

/// Returns when all packs are here without which the app does not start, after the policies were applied that an installation or
/// an update calls for. Waits.
pkm_status pkm_manager_ensure_essential(pkm_manager *manager, pkm_error *PKM_NULLABLE error);

/// Registers downloads of newer versions, and removes packs that their publishers have withdrawn. `updating` and `removed`, which
/// may be NULL, are how many. Asks the sites; waits for their answers, and for no download.
pkm_status pkm_manager_check_for_updates(
  size_t *PKM_NULLABLE updating, size_t *PKM_NULLABLE removed, pkm_manager *manager, pkm_error *PKM_NULLABLE error
);

/// Frees the space of a pack. Waits for the disk. Errors: PKM_ASSET_PACK_NOT_FOUND.
pkm_status pkm_manager_remove(pkm_manager *manager, const char *pack, pkm_error *PKM_NULLABLE error);

/// Holds a download up, lets it go on, ends it. What came stays. False: the pack is not being downloaded.
bool pkm_manager_pause(pkm_manager *manager, const char *pack);
bool pkm_manager_resume(pkm_manager *manager, const char *pack);
bool pkm_manager_cancel(pkm_manager *manager, const char *pack);

/// What happens to downloads, for each: began, any number of has_progress, then finished or failed. Paused comes in between, and
/// began follows it. Each may be NULL.
typedef struct pkm_delegate {
  void *PKM_NULLABLE
    context;  ///< handed to each; must live until another delegate is set, or `pkm_manager_close` returned
  void (*PKM_NULLABLE began)(void *PKM_NULLABLE context, const pkm_pack *pack);
  void (*PKM_NULLABLE paused)(void *PKM_NULLABLE context, const pkm_pack *pack);
  /// Bytes that came over the wire, and how many there will be.
  void (*PKM_NULLABLE has_progress
  )(void *PKM_NULLABLE context, const pkm_pack *pack, uint64_t completed_bytes, uint64_t total_bytes);
  void (*PKM_NULLABLE finished)(void *PKM_NULLABLE context, const pkm_pack *pack);
  void (*PKM_NULLABLE failed)(void *PKM_NULLABLE context, const pkm_pack *pack, const pkm_error *error);
} pkm_delegate;

/// Who gets to know of downloads from now on, in place of the one before; NULL: no one. Returns when no callback of the one before
/// runs any more, unless it is called in one.
void pkm_manager_set_delegate(pkm_manager *manager, const pkm_delegate *PKM_NULLABLE delegate);

// MARK: - Files

/// The bytes of a file. Given back by `pkm_contents_release`.
typedef struct pkm_contents {
  const void *PKM_NULLABLE bytes;
  size_t count;
  void *PKM_NULLABLE owner;  ///< the library's
} pkm_contents;

/// The bytes of a file, mapped where they lie in one piece. `pack`: where to look; NULL: in all of them, of which the one of
/// highest priority wins. May read from the disk. Errors: PKM_FILE_NOT_FOUND, PKM_ASSET_PACK_NOT_FOUND, PKM_INVALID_ARGUMENT,
/// PKM_STORE.
pkm_status pkm_manager_contents(
  pkm_contents *out, pkm_manager *manager, const char *path, const char *PKM_NULLABLE pack,
  pkm_error *PKM_NULLABLE error
);
void pkm_contents_release(pkm_contents *contents);

/// Opens a file of its own with the bytes of an asset: a descriptor that the caller closes. May read from the disk. Errors: as
/// `pkm_manager_contents`.
pkm_status pkm_manager_descriptor(
  int *out, pkm_manager *manager, const char *path, const char *PKM_NULLABLE pack, pkm_error *PKM_NULLABLE error
);

/// The path of a plain file with an asset's bytes, or of a folder with all that the packs have below a path. It stays as it is
/// until the process ends. Written the first time. Given back by `pkm_text_free`. Errors: as `pkm_manager_contents`.
pkm_status pkm_manager_file_path(
  char *PKM_NULLABLE *PKM_NONNULL out, pkm_manager *manager, const char *path, pkm_error *PKM_NULLABLE error
);
void pkm_text_free(char *PKM_NULLABLE text);

// MARK: - Languages

/// The language that packs are read in; NULL: no pack has one. Given back by `pkm_text_free`.
char *PKM_NULLABLE pkm_manager_resolved_language(pkm_manager *manager);
/// Takes a language in place of what the user prefers; NULL: that decides again. Errors: PKM_INVALID_ARGUMENT.
pkm_status pkm_manager_set_language(
  pkm_manager *manager, const char *PKM_NULLABLE language, pkm_error *PKM_NULLABLE error
);
/// Registers downloads of the packs in the language that counts now. Asks the sites; waits for their answers.
pkm_status pkm_manager_reconcile_languages(pkm_manager *manager, pkm_error *PKM_NULLABLE error);

PKM_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif
