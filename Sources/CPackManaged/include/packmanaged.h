/// packmanaged: the managed client in C.
///
/// An app specifies its group and the sites of its packs. The library downloads packs by policy and on request, keeps them up to
/// date, and presents them as one namespace of files. The functions correspond to the Swift calls of the module `ManagedPacks`;
/// `Docs/BackgroundAssets-Reference.md` describes their semantics.
///
/// Rules
/// - Threads: any number of threads may use a manager at the same time. A function documented with "Blocks" waits for the network
///   or for work to complete: do not call it on a thread that must stay responsive, or in a callback. All other functions return at
///   once.
/// - Ownership: the caller owns every output and releases it with the function that its documentation names. Strings within an
///   output are valid until the output is released. A manager may be closed while another thread is still blocked in one of its
///   functions.
/// - Callbacks run on a thread of the library, one at a time, in the order of the events. Their arguments are valid until they
///   return.
/// - NULL: a pointer that may be NULL is marked PKM_NULLABLE; other pointers must not be NULL. Strings are UTF-8 and end with a
///   zero byte. A string that is not valid UTF-8 causes an error, or names a pack or file that does not exist.
/// - Errors: a function that can fail returns a `pkm_status`, and fills `*error` if `error` is not NULL. Outputs are written only
///   on success.
/// - After a fork, the child must not use managers of its parent.
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

/// The result of a call. The numbers are stable.
typedef enum pkm_status {
  PKM_OK = 0,
  PKM_CANCELLED = 1,             ///< the download was cancelled
  PKM_ASSET_PACK_NOT_FOUND = 2,  ///< no site offers the pack, and it is not installed
  PKM_FILE_NOT_FOUND = 3,        ///< no installed pack contains the file
  PKM_LOCAL_AVAILABILITY = 4,    ///< some of several requested packs are not available
  PKM_CONFIGURATION = 5,         ///< the property list is missing or invalid, or the group's folder cannot be used
  PKM_INVALID_ARGUMENT = 6,      ///< a path that leads out of the namespace, or an invalid language tag
  PKM_DELIVERY = 7,              ///< the network, the site or its signature; or no offer suits this app
  PKM_NO_SPACE = 8,              ///< too little free space on the disk
  PKM_STORE = 9,                 ///< the local store: damage, purged data, or a failed system call
  PKM_OTHER = 10                 ///< another error, for instance of the group's agent
} pkm_status;

/// Returns the name of a status, such as "PKM_OK", for log messages.
const char *pkm_status_name(pkm_status status);

/// The details of a failed call.
typedef struct pkm_error {
  pkm_status status;
  char message[1024];  ///< the fault and its remedy, truncated if longer
} pkm_error;

// MARK: - Managers

/// A manager of the packs of one group. Created by `pkm_manager_open`, released by `pkm_manager_close`.
typedef struct pkm_manager pkm_manager;

/// Opens a manager that a property list configures: a file in XML, JSON or the binary form. If `property_list` is NULL, the file is
/// the one named in the environment variable `PACKSTORE_BACKGROUND_ASSETS`, or the property list in the program's folder. Contacts
/// no site. Release the manager with `pkm_manager_close`. Errors: PKM_CONFIGURATION, PKM_STORE.
pkm_status pkm_manager_open(
  pkm_manager *PKM_NULLABLE *PKM_NONNULL out, const char *PKM_NULLABLE property_list, pkm_error *PKM_NULLABLE error
);

/// Releases a manager; NULL has no effect. Running downloads continue until the process ends. No callback starts after this call.
void pkm_manager_close(pkm_manager *PKM_NULLABLE manager);

// MARK: - Packs

/// The status of a pack on this machine and on its site: the bits of `AssetPack.Status`.
enum {
  PKM_DOWNLOAD_AVAILABLE = 1 << 0,  ///< the site offers the pack to this app
  PKM_UPDATE_AVAILABLE = 1 << 1,    ///< the site offers a newer version, which an update would install
  PKM_UP_TO_DATE = 1 << 2,          ///< the installed version is the offered one
  PKM_OUT_OF_DATE = 1 << 3,         ///< the installed version is not the offered one
  PKM_OBSOLETE = 1 << 4,            ///< the site does not list the pack any more
  PKM_DOWNLOADING = 1 << 5,         ///< the pack is being downloaded or is queued
  PKM_DOWNLOADED = 1 << 6           ///< the pack is complete on this machine
};

/// One version of a pack that a site offers.
typedef struct pkm_pack {
  const char *id;
  uint64_t version;
  uint64_t download_bytes;             ///< the download size for an empty store
  const char *PKM_NULLABLE language;   ///< a language tag; NULL if the pack is for every language
  const char *PKM_NULLABLE user_info;  ///< the JSON that the publisher attached; NULL if none
} pkm_pack;

/// The packs offered to the app, sorted by id. Release it with `pkm_manifest_free`.
typedef struct pkm_manifest {
  size_t count;
  const pkm_pack *PKM_NULLABLE packs;
} pkm_manifest;

/// Returns the packs that the sites offer. Contacts the sites. Blocks.
pkm_status pkm_manager_manifest(pkm_manifest *out, pkm_manager *manager, pkm_error *PKM_NULLABLE error);
/// Releases a manifest with its packs and strings.
void pkm_manifest_free(pkm_manifest *manifest);

/// Returns the status bits of a pack. Contacts the sites. Blocks. Errors: PKM_ASSET_PACK_NOT_FOUND if the pack is neither installed
/// nor listed.
pkm_status pkm_manager_status(uint32_t *out, pkm_manager *manager, const char *pack, pkm_error *PKM_NULLABLE error);
/// Returns the status bits that are known without contacting a site: PKM_DOWNLOADED, and PKM_OUT_OF_DATE and PKM_OBSOLETE as of
/// this process's last contact with the sites. Returns 0 if the pack is not installed or not complete. May read from the disk.
uint32_t pkm_manager_local_status(pkm_manager *manager, const char *pack);
/// Returns whether a pack is complete on this machine. Usually takes a few microseconds.
bool pkm_manager_is_available_locally(pkm_manager *manager, const char *pack);
/// Returns the installed version of a pack. Errors: PKM_ASSET_PACK_NOT_FOUND.
pkm_status pkm_manager_local_version(
  uint64_t *out, pkm_manager *manager, const char *pack, pkm_error *PKM_NULLABLE error
);

/// The reason why the newest version of a pack is not installed. The numbers are stable.
typedef enum pkm_withheld_reason {
  PKM_NOT_WITHHELD = 0,               ///< the newest version is installed, or an update would install it
  PKM_WITHHELD_SHARE = 1,             ///< it is for a share of devices that does not include this one
  PKM_WITHHELD_UNDRAWN_SHARE = 2,     ///< it is for a share of devices, and this store has no device id yet
  PKM_WITHHELD_SCHEDULE = 3,          ///< a later step of its release includes this device
  PKM_WITHHELD_PAUSED = 4,            ///< its release is paused
  PKM_WITHHELD_HALTED = 5,            ///< its release is halted
  PKM_WITHHELD_APP_VERSION = 6,       ///< it is for other versions of the app
  PKM_WITHHELD_PLATFORM = 7,          ///< it is for other platforms
  PKM_WITHHELD_WITHDRAWN = 8,         ///< the publisher withdrew it
  PKM_WITHHELD_HELD = 9,              ///< the pack is held at another version
  PKM_WITHHELD_OTHER_ORIGIN = 10,     ///< the installed pack belongs to another publisher or product
  PKM_WITHHELD_PUBLISHER_OLD = 11,    ///< the publisher signed an older state of the site than this store has accepted
  PKM_WITHHELD_STALE = 12,            ///< the site is older than a state seen before
  PKM_WITHHELD_REUSED_NUMBER = 13,    ///< the site has other content under the number of an installed version
  PKM_WITHHELD_PURGED = 14,           ///< data of the pack was purged
  PKM_WITHHELD_KEY_NOT_TRUSTED = 15,  ///< the site is signed by a key that is not trusted, or not signed
  PKM_WITHHELD_EXPIRED = 16,          ///< the site, or the key that signed it, has expired
  PKM_WITHHELD_NO_SPACE = 17,         ///< too little free space on the disk
  PKM_WITHHELD_RELEASE = 18           ///< another pack of its release cannot be installed: `blocking_pack`
} pkm_withheld_reason;

enum { PKM_PACK_ID_SIZE = 129 };  ///< size of the longest id of a pack with its zero, in bytes

/// The newest version of a pack that is not installed.
typedef struct pkm_withheld {
  pkm_withheld_reason reason;
  uint64_t version;  ///< 0 if it is unknown, because the site cannot be used, or if the newest version is not withheld
  char blocking_pack[PKM_PACK_ID_SIZE];  ///< the id of the pack that cannot be installed; empty for other reasons
} pkm_withheld;

/// Returns whether an update would not install the newest version of a pack, and the reason. Contacts the sites; downloads nothing.
/// Blocks. Errors: PKM_DELIVERY if no site answers.
pkm_status pkm_manager_withheld(
  pkm_withheld *out, pkm_manager *manager, const char *pack, pkm_error *PKM_NULLABLE error
);

// MARK: - Downloads

/// Ensures that packs are complete on this machine: downloads the missing packs, and returns at once if none is missing. Blocks.
///
/// If `requires_latest` is true, updates are installed, too. Errors: if `count` is 1, the reason why the pack is not available;
/// otherwise PKM_LOCAL_AVAILABILITY, whose message names each unavailable pack and the reason. If no site answers, the error of the
/// first site. PKM_CANCELLED if the download was cancelled.
pkm_status pkm_manager_ensure(
  pkm_manager *manager, const char *PKM_NONNULL const *PKM_NONNULL packs, size_t count, bool requires_latest,
  pkm_error *PKM_NULLABLE error
);

/// Detects installations and updates of the app, applies their policies, and returns when all essential packs are complete. Call it
/// before the app uses its packs. Blocks.
pkm_status pkm_manager_ensure_essential(pkm_manager *manager, pkm_error *PKM_NULLABLE error);

/// Registers downloads of newer versions, and removes packs that their publishers have withdrawn. Stores the numbers of updating
/// and removed packs in `updating` and `removed` if they are not NULL. Contacts the sites. Blocks until they answer, but not until
/// the downloads end.
pkm_status pkm_manager_check_for_updates(
  size_t *PKM_NULLABLE updating, size_t *PKM_NULLABLE removed, pkm_manager *manager, pkm_error *PKM_NULLABLE error
);

/// Deletes a pack and frees its space. Cancels its download. Blocks until that is done. Errors: PKM_ASSET_PACK_NOT_FOUND.
pkm_status pkm_manager_remove(pkm_manager *manager, const char *pack, pkm_error *PKM_NULLABLE error);

/// Pauses a download and keeps the downloaded data. Returns false if the pack is not being downloaded.
bool pkm_manager_pause(pkm_manager *manager, const char *pack);
/// Resumes a paused download. Returns false if the pack is not being downloaded.
bool pkm_manager_resume(pkm_manager *manager, const char *pack);
/// Cancels a download; the next one reuses the downloaded data. Returns false if the pack is not being downloaded.
bool pkm_manager_cancel(pkm_manager *manager, const char *pack);

/// Callbacks for the events of downloads; each may be NULL. For each download: `began`, any number of `has_progress`, then
/// `finished` or `failed`. `paused` may occur in between, and `began` follows it when the download continues.
typedef struct pkm_delegate {
  void *PKM_NULLABLE
    context;  ///< passed to every callback; must be valid until another delegate is set or `pkm_manager_close` returns
  void (*PKM_NULLABLE began)(void *PKM_NULLABLE context, const pkm_pack *pack);
  void (*PKM_NULLABLE paused)(void *PKM_NULLABLE context, const pkm_pack *pack);
  /// The number of downloaded bytes, and the expected total.
  void (*PKM_NULLABLE has_progress
  )(void *PKM_NULLABLE context, const pkm_pack *pack, uint64_t completed_bytes, uint64_t total_bytes);
  void (*PKM_NULLABLE finished)(void *PKM_NULLABLE context, const pkm_pack *pack);
  void (*PKM_NULLABLE failed)(void *PKM_NULLABLE context, const pkm_pack *pack, const pkm_error *error);
} pkm_delegate;

/// Sets the delegate for all events from now on, in place of the previous one; NULL removes it. Returns when no callback of the
/// previous delegate is running, unless it is called from one.
void pkm_manager_set_delegate(pkm_manager *manager, const pkm_delegate *PKM_NULLABLE delegate);

// MARK: - Files

/// The bytes of a file. Release it with `pkm_contents_release`.
typedef struct pkm_contents {
  const void *PKM_NULLABLE bytes;
  size_t count;
  void *PKM_NULLABLE owner;  ///< for the library only
} pkm_contents;

/// Returns the bytes of a file, memory-mapped if they are stored in one piece. `path` is relative to the root of the namespace.
/// `pack` is the pack to search. If it is NULL, all packs are searched: first packs in the current language, then packs without a
/// language, then packs in other languages; among equals, the pack with the highest priority wins. May read from the disk. Errors:
/// PKM_FILE_NOT_FOUND, PKM_ASSET_PACK_NOT_FOUND, PKM_INVALID_ARGUMENT, PKM_STORE.
pkm_status pkm_manager_contents(
  pkm_contents *out, pkm_manager *manager, const char *path, const char *PKM_NULLABLE pack,
  pkm_error *PKM_NULLABLE error
);
/// Releases the bytes of a file.
void pkm_contents_release(pkm_contents *contents);

/// Opens a private file with the bytes of an asset. The caller closes the descriptor. May read from the disk. Errors: as
/// `pkm_manager_contents`.
pkm_status pkm_manager_descriptor(
  int *out, pkm_manager *manager, const char *path, const char *PKM_NULLABLE pack, pkm_error *PKM_NULLABLE error
);

/// Returns the path of a plain file with an asset's bytes, or of a folder with the files that all packs have below `path`. The
/// first request writes the file; its content does not change until the process ends. Release the path with `pkm_text_free`.
/// Errors: as `pkm_manager_contents`.
pkm_status pkm_manager_file_path(
  char *PKM_NULLABLE *PKM_NONNULL out, pkm_manager *manager, const char *path, pkm_error *PKM_NULLABLE error
);
/// Releases a string; NULL has no effect.
void pkm_text_free(char *PKM_NULLABLE text);

// MARK: - Languages

/// Returns the language in which packs are read, as a language tag; NULL if no pack has a language. Release it with
/// `pkm_text_free`.
char *PKM_NULLABLE pkm_manager_resolved_language(pkm_manager *manager);
/// Sets a language that takes precedence over the user's preferences; NULL removes it. Errors: PKM_INVALID_ARGUMENT.
pkm_status pkm_manager_set_language(
  pkm_manager *manager, const char *PKM_NULLABLE language, pkm_error *PKM_NULLABLE error
);
/// Registers downloads of the packs in the current language. Contacts the sites. Blocks until they answer, but not until the
/// downloads end.
pkm_status pkm_manager_reconcile_languages(pkm_manager *manager, pkm_error *PKM_NULLABLE error);

PKM_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif
