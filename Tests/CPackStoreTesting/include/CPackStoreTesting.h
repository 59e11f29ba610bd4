/// A simulated disk in memory that fails as real disks do.
///
/// `sim_vfs(disk)` is a `pks_vfs`. A test gives it to the core, runs an operation, cuts the power, and checks the
/// remaining state. Everything is deterministic: the same calls on a disk with the same seed produce the same bytes,
/// names, times and traces.
///
/// The model of a power cut
/// - A file has a *live* image, which reads return, and a *durable* one. A write is divided into pieces at 512-byte
///   sectors, and each piece reaches the disk or not, independently. After a cut a sector has any of its states since
///   the last `sync` of the file; a lost sector past the old end reads as zeros. The size is any size that the file had
///   since then; an append counts as growth piece by piece. Writes through writable mappings follow the same rules; the
///   next call finds them by comparison with a shadow copy. Only `sync` of the file makes its writes durable.
/// - Only `sync` of a folder makes the folder's names durable; `sync` of the file or of the parent does not. After a
///   cut each name has any of its states since then, independently of other names. But a rename within one folder
///   happens for both names or for neither. A rename across folders is two changes, one in each folder: after a cut
///   both names may exist, or neither.
/// - A file without a surviving name is gone, as are handles, mappings, locks and processes. `boot_id` changes.
///
/// A disk must be used by one thread at a time. Clones and crash results share unchanged bytes internally, but are
/// independent: each may be used by another thread. Memory is allocated by `malloc` and not counted by `memory.h`. The
/// simulation aborts if memory is short, and after misuse that is a bug of the caller on any system, such as a closed
/// handle or an unknown mapping.
///
/// Paths given to these functions are absolute ("/store/CONTROL"). The caller frees returned texts and buffers.
#ifndef CPACKSTORE_TESTING_H
#define CPACKSTORE_TESTING_H

#include "platform/vfs.h"

typedef struct sim_disk sim_disk;

#define SIM_NEVER UINT64_MAX

// MARK: Life

sim_disk *sim_new(uint64_t seed);  ///< empty; `seed` drives `random`, the order of listings, and SIM_FAILED_SYNC_RANDOM
void sim_free(sim_disk *disk);     ///< may be NULL; open handles and mappings become invalid

/// Copies a disk with its files, live and durable, and its unsynced writes. The copy has no open handles and is not
/// stopped. Settings (capacity, seed, clock, process id, failed-sync mode, trace on or off) are copied; faults, stop
/// points, counters and the trace so far are not. The cost is proportional to the number of files, not of bytes.
sim_disk *sim_clone(sim_disk *disk);

/// The seam of the first process of this machine. Valid until `sim_free`.
const pks_vfs *sim_vfs(sim_disk *disk);

/// Another process on the same machine: same files, own handles, locks against the others'. Valid until `sim_free`.
const pks_vfs *sim_start_process(sim_disk *disk, uint64_t process_id);

/// Makes the caller a forked child of the process: it has copies of the parent's objects, with the same handles and
/// locks. Handles closed by the child are closed for the parent too, which cannot be inspected afterwards.
void sim_fork(const pks_vfs *process);

/// Ends a process like kill -9: its locks and handles are gone, its writes remain (unsynced). Its later calls fail with
/// EIO, and its `close` and `unmap` are ignored, so that its objects can be freed. `process` must come from one of the
/// two functions above.
void sim_kill(const pks_vfs *process);

void sim_set_process_id(sim_disk *disk, uint64_t process_id);  ///< the id of the first process (default: 1)

// MARK: Power cuts. Each builds a new disk and leaves `disk` as it is, to be crashed again in another way.

typedef enum sim_crash_mode {
  SIM_CRASH_MIN,     ///< nothing unsynced survives
  SIM_CRASH_MAX,     ///< everything survives
  SIM_CRASH_RANDOM,  ///< random by `seed`; weighted so that cases like "all names, some data" are frequent
} sim_crash_mode;

sim_disk *sim_crash(sim_disk *disk, sim_crash_mode mode, uint64_t seed);

/// Returns the number of states that a cut now may leave; UINT64_MAX if there are more, or too many to number. Some
/// states may be equal, for example if only a file without a surviving name differs: compare them by `sim_fingerprint`.
uint64_t sim_crash_state_count(sim_disk *disk);

/// Builds state `index`, which must be below the count. State 0 is SIM_CRASH_MIN, the last one is SIM_CRASH_MAX. If the
/// count is UINT64_MAX, state 1 is SIM_CRASH_MAX, and each later one is SIM_CRASH_RANDOM with `index` as seed.
sim_disk *sim_crash_state(sim_disk *disk, uint64_t index);

/// All states if there are at most `budget`, otherwise a sample of `budget` states: min, max, then random ones by
/// `seed`.
uint64_t sim_sample_count(sim_disk *disk, uint64_t budget);
sim_disk *sim_sample(sim_disk *disk, uint64_t budget, uint64_t seed, uint64_t index);

// MARK: Stop points

/// Permits `count` more mutating calls. Then the machine is dead: every call fails with EIO and changes nothing
/// (`close` and `unmap` still release). Mutating calls are writes, `preallocate`, `sync`, `make_folder`, `rename`,
/// `unlink`, and an `open` that creates a file. SIM_NEVER removes the stop point if no call was refused yet; after
/// that, continue with `sim_crash` or `sim_clone`.
void sim_stop_after(sim_disk *disk, uint64_t count);
bool sim_stopped(const sim_disk *disk);

uint64_t sim_operation_count(const sim_disk *disk);  ///< mutating calls so far, failed ones too

// MARK: Faults

typedef enum sim_call {
  SIM_CALL_ANY,       ///< all calls below
  SIM_CALL_MUTATING,  ///< the calls that `sim_stop_after` counts
  SIM_CALL_OPEN,      ///< `open_root` too; when it may create, a SIM_CALL_SYNC_FOLDER of its parent follows
  SIM_CALL_INFO,      ///< `info_of` too
  SIM_CALL_READ_LINK,
  SIM_CALL_LIST,
  SIM_CALL_READ,
  SIM_CALL_WRITE,
  SIM_CALL_PREALLOCATE,
  SIM_CALL_SYNC,  ///< both of the next two
  SIM_CALL_SYNC_FILE,
  SIM_CALL_SYNC_FOLDER,
  SIM_CALL_MAKE_FOLDER,
  SIM_CALL_RENAME,
  SIM_CALL_UNLINK,
  SIM_CALL_MAP,
  SIM_CALL_TOUCH,
  SIM_CALL_LOCK,  ///< `lock_held` too
  SIM_CALL_RANDOM,
  SIM_CALL_BOOT_ID,
  SIM_CALL_FREE_BYTES,
} sim_call;
enum { SIM_CALL_COUNT = SIM_CALL_FREE_BYTES + 1 };

uint64_t sim_call_count(const sim_disk *disk, sim_call call);  ///< so far, failed ones too

/// Makes a matching call fail with `error`, after `skip` more matching calls; with `sticky`, all later matching calls
/// fail too. `pattern` is NULL for any path, or a shell pattern in which `*` also matches `/`. A handle's path is the
/// path it was opened by, even after a rename; `rename` matches by either of its paths. Several faults may be pending.
/// A failing write has written its first half. A failing `sync` acts as set by `sim_set_failed_sync`.
void sim_fail(sim_disk *disk, sim_call call, const char *pattern, uint64_t skip, int error, bool sticky);

/// Makes a `sync`, after `skip` more of them, report success without effect; or every `sync` whose path matches
/// `pattern`.
void sim_ignore_sync(sim_disk *disk, uint64_t skip);
void sim_ignore_syncs_of(sim_disk *disk, const char *pattern);

/// A wrong effect of a call that reports success, as disks, cables and firmware produce.
typedef enum sim_lie {
  SIM_LIE_FLIPPED = 1,  ///< a read, a new read-only mapping or a write: one bit is flipped
  SIM_LIE_MISDIRECTED,  ///< a read or mapping returns the bytes of another place; a write goes to another place instead
  SIM_LIE_STALE,  ///< a read or mapping returns the file's bytes before its last `sync`, with zeros past their end
  SIM_LIE_SHORT,  ///< a read ends early, as at the end of the file; a mapping continues with zeros
  SIM_LIE_LOST,   ///< a write extends the file as it should, but changes no existing byte; new bytes are zeros
} sim_lie;

/// Makes a matching call return wrong results, after `skip` more matching calls; with `sticky`, all later matching
/// calls too. `call` is SIM_CALL_READ, SIM_CALL_MAP or SIM_CALL_WRITE; private mappings count as reads. `seed`
/// determines the bit and the other place, a sector of any file.
void sim_tell_lie(
  sim_disk *disk, sim_lie lie, sim_call call, const char *pattern, uint64_t skip, uint64_t seed, bool sticky
);

/// Returns the return address of the core's call that failed last because of `sim_fail`, which identifies the call
/// site; NULL if none failed.
const void *sim_failed_site(const sim_disk *disk);

void sim_clear_faults(sim_disk *disk);  ///< removes all pending faults, ignored syncs and wrong results

/// The fate of unsynced writes (for a folder: names) when `sync` fails. In each case they count as clean afterwards:
/// reads return them, but no later `sync` makes them durable.
typedef enum sim_failed_sync {
  SIM_FAILED_SYNC_LOSES,  ///< none reached the disk (the default)
  SIM_FAILED_SYNC_KEEPS,  ///< all reached the disk, in spite of the error
  SIM_FAILED_SYNC_RANDOM,
} sim_failed_sync;
void sim_set_failed_sync(sim_disk *disk, sim_failed_sync mode);

/// Sets the total size of files, each rounded up to sectors; beyond it, calls fail with ENOSPC. SIM_NEVER: no limit.
/// Unlinked files count while open.
void sim_set_capacity(sim_disk *disk, uint64_t byte_count);
uint64_t sim_used_bytes(const sim_disk *disk);

void sim_set_read_only(sim_disk *disk, bool read_only);  ///< calls that would change anything fail with EROFS
void sim_set_vague_lists(sim_disk *disk, bool vague);    ///< `list` reports PKS_VFS_KIND_OTHER, as some file systems do
void sim_advance_clock(sim_disk *disk, int64_t nanoseconds);  ///< in addition to the microsecond that each call takes

/// XORs one byte of a file with `mask` wherever it is stored: live, durable, mapped and unsynced. ENOENT, or EINVAL
/// past the end.
int sim_corrupt(sim_disk *disk, const char *path, uint64_t offset, uint8_t mask);

// MARK: Set-up and assertions. These functions are not calls of the core: they are not counted, ignore faults, and
// their writes are durable.

/// Writes a complete file in place, shortening a longer one; creates missing folders. The file is durable, and so are
/// all pending changes in its folders.
void sim_put_file(sim_disk *disk, const char *path, const void *bytes, size_t byte_count);
/// Writes a part of a file, and makes the file that long. Whole pages that were never written are holes.
void sim_put_part(sim_disk *disk, const char *path, uint64_t offset, const void *bytes, size_t byte_count);
void sim_put_folder(sim_disk *disk, const char *path);
void sim_put_link(sim_disk *disk, const char *path, const char *target);
int sim_set_executable(sim_disk *disk, const char *path, bool executable);
int sim_remove(
  sim_disk *disk, const char *path
);  ///< a file, or a folder with its contents; simulates another process's `rm -r`

void *sim_read_file(sim_disk *disk, const char *path, size_t *byte_count);  ///< live bytes; NULL if it is not a file
bool sim_exists(sim_disk *disk, const char *path);
/// Lists everything below a folder, one line each, sorted: relative path, then "/" for a folder, " -> target" for a
/// link. NULL if the folder does not exist.
char *sim_list(sim_disk *disk, const char *folder);
uint64_t sim_fingerprint(sim_disk *disk);  ///< equal for equal live trees: names, kinds, sizes, bytes
uint64_t sim_fingerprint_of(
  sim_disk *disk, const char *folder
);  ///< fingerprint of a folder's contents; 0 if it does not exist

typedef struct sim_counts {
  uint64_t handles, maps, locks;  ///< open now, of processes that were not killed; leak tests compare them with zero
  uint64_t unsynced_pieces;       ///< sector pieces that a cut may lose, in files that have a name
  uint64_t unsynced_names;        ///< name operations that a cut may lose
  uint64_t bytes_written;         ///< by `write_at`, or found in mappings
  uint64_t bytes_read;            ///< by `read_at`
} sim_counts;
sim_counts sim_counts_now(sim_disk *disk);

// MARK: Debugging

/// Enables the trace: one line per call with its result, numbered by mutating calls. The trace of a crash result begins
/// with the surviving changes. Off by default, because it takes time.
void sim_set_trace(sim_disk *disk, bool on);
const char *sim_trace(const sim_disk *disk);  ///< valid until the next call

/// SplitMix64: advances `*state`. Tests may use it to get the same numbers.
uint64_t sim_next_random(uint64_t *state);

#endif
