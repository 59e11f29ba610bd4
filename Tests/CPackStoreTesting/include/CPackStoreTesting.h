/// A disk that exists only in memory, and that fails as real ones do.
///
/// `sim_vfs(disk)` is a `pks_vfs`: put it behind the core, run an operation, cut the power, look at what is left.
/// Everything is deterministic: the same calls on a disk with the same seed give the same bytes, names, times and
/// traces.
///
/// The model of a power cut
/// - A file has a *live* image (what reads see) and a *durable* one. A write is cut into pieces at 512-byte sectors,
///   and each
///   piece may reach the disk or not, alone. A sector ends up in any of the states that it went through since the last
///   `sync` of
///   the file; one that did not survive past the old end reads as zeros. The size ends up at any size that the file had
///   meanwhile,
///   counting an append as growing piece by piece. Writes through writable mappings are found by comparing with a
///   shadow at the
///   next call and count alike. Only `sync` of that file moves the floor.
/// - A folder's names are made durable by `sync` of that folder and nothing else: not by syncing the file, nor the
///   parent. Each
///   name ends up in any of the states that it went through, independent of other names, except that a rename within
///   one folder
///   happens for both names or for neither. A rename across folders is two facts, one in each folder: after a cut the
///   file may
///   be under both names, or under none.
/// - What no surviving name leads to is gone, and so are handles, mappings, locks and processes. `boot_id` is another
///   one.
///
/// A disk belongs to one thread at a time. Clones and crash results share unchanged bytes inside, but are independent:
/// each may go to another thread. Memory is plain `malloc`, not counted by `memory.h`; running out of it aborts. So
/// does misuse that would be a bug of the caller on any system: a handle that is not open, an unknown mapping.
///
/// Paths given to the functions here are absolute ("/store/CONTROL"). A returned text or buffer is for the caller to
/// `free`.
#ifndef CPACKSTORE_TESTING_H
#define CPACKSTORE_TESTING_H

#include "platform/vfs.h"

typedef struct sim_disk sim_disk;

#define SIM_NEVER UINT64_MAX

// MARK: Life

sim_disk *sim_new(uint64_t seed);  ///< empty; `seed` drives `random`, the order of listings, and SIM_FAILED_SYNC_RANDOM
void sim_free(sim_disk *disk);     ///< NULL is fine; whatever is still open or mapped becomes invalid

/// A copy with the same files, live and durable, and the same unsynced writes. Nothing is open in it, and it is not
/// stopped.
/// Settings (capacity, seed, clock, process id, failed-sync mode, trace on or off) are copied; faults, stop points,
/// counters and the trace so far are not. Costs in proportion to the number of files, not of bytes.
sim_disk *sim_clone(sim_disk *disk);

/// The seam of the first process of this machine. Valid until `sim_free`.
const pks_vfs *sim_vfs(sim_disk *disk);

/// Another process on the same machine: same files, own handles, locks against the others'. Valid until `sim_free`.
const pks_vfs *sim_start_process(sim_disk *disk, uint64_t process_id);

/// From here on the caller is a forked child of the process: its objects are those that the parent had, with the same
/// handles and locks. What it closes is closed, as the parent cannot be looked at any more.
void sim_fork(const pks_vfs *process);

/// Ends a process as kill -9 does: locks and handles are gone, what it wrote stays (unsynced). Its later calls fail
/// with EIO,
/// and its `close` and `unmap` are ignored, so that its objects can be freed. `process` came from one of the two above.
void sim_kill(const pks_vfs *process);

void sim_set_process_id(sim_disk *disk, uint64_t process_id);  ///< of the first process; 1 unless set

// MARK: Power cuts. Each builds a new disk and leaves `disk` as it is, to be crashed again in another way.

typedef enum sim_crash_mode {
  SIM_CRASH_MIN,     ///< nothing unsynced survives
  SIM_CRASH_MAX,     ///< everything survives
  SIM_CRASH_RANDOM,  ///< drawn from the seed; weighted so that "all names, some data" and the like are frequent
} sim_crash_mode;

sim_disk *sim_crash(sim_disk *disk, sim_crash_mode mode, uint64_t seed);

/// How many states a cut now may leave behind; UINT64_MAX when there are more than that, or too many to number. Some of
/// them may be equal, as when a file differs that no surviving name leads to: `sim_fingerprint` tells.
uint64_t sim_crash_state_count(sim_disk *disk);

/// State number `index`, below the count. 0 is SIM_CRASH_MIN, the last one is SIM_CRASH_MAX. When the count is
/// UINT64_MAX, 1 is SIM_CRASH_MAX and each later one SIM_CRASH_RANDOM with `index` as seed.
sim_disk *sim_crash_state(sim_disk *disk, uint64_t index);

/// All states if there are at most `budget`, else a sample of that many: min, max, then random ones drawn from `seed`.
///     for (uint64_t i = 0; i < sim_sample_count(disk, budget); i++) { sim_disk *after = sim_sample(disk, budget, seed,
///     i); ... }
uint64_t sim_sample_count(sim_disk *disk, uint64_t budget);
sim_disk *sim_sample(sim_disk *disk, uint64_t budget, uint64_t seed, uint64_t index);

// MARK: Stop points

/// Lets `count` more mutating calls through; then the machine is dead: every call fails with EIO and changes nothing
/// (`close` and `unmap` still release). Mutating are: writes, `preallocate`, `sync`, `make_folder`, `rename`, `unlink`,
/// and opening what this creates. SIM_NEVER takes the stop point back, unless a call was refused already: then
/// `sim_crash` or `sim_clone` go on.
void sim_stop_after(sim_disk *disk, uint64_t count);
bool sim_stopped(const sim_disk *disk);

uint64_t sim_operation_count(const sim_disk *disk);  ///< mutating calls so far, failed ones too

// MARK: Faults

typedef enum sim_call {
  SIM_CALL_ANY,       ///< each of those below
  SIM_CALL_MUTATING,  ///< those that `sim_stop_after` counts
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

/// Makes the matching call number `skip` from now on (0: the next) fail with `error`; with `sticky` all matching ones
/// after it too.
/// `pattern` is NULL for any path, or a shell pattern in which `*` matches `/` too. A handle's path is the one that it
/// was opened by, whatever was renamed since; `rename` matches by either of its paths. Several faults may wait at once.
/// A failing write has written its first half. A failing `sync` does what `sim_set_failed_sync` says.
void sim_fail(sim_disk *disk, sim_call call, const char *pattern, uint64_t skip, int error, bool sticky);

/// Makes the `sync` number `skip` from now on claim success and do nothing; or every `sync` whose path matches
/// `pattern`.
void sim_ignore_sync(sim_disk *disk, uint64_t skip);
void sim_ignore_syncs_of(sim_disk *disk, const char *pattern);

/// What a call does instead of its work while it claims success, as disks, cables and firmware do.
typedef enum sim_lie {
  SIM_LIE_FLIPPED = 1,  ///< of a read, a new read-only mapping or a write: one bit is another
  SIM_LIE_MISDIRECTED,  ///< a read or mapping gives the bytes of another place; a write goes there, and leaves its own
  SIM_LIE_STALE,  ///< a read or mapping gives what the file held before its last `sync`; zeros where it was shorter
  SIM_LIE_SHORT,  ///< a read ends early, as at the end of the file; a mapping goes on with zeros
  SIM_LIE_LOST,   ///< a write makes the file as long as it should be, and puts zeros or leaves what there was
} sim_lie;

/// Makes the call number `skip` from now on that matches tell a lie; with `sticky` all after it too. `call` is
/// SIM_CALL_READ, SIM_CALL_MAP or SIM_CALL_WRITE; private mappings are read. Which bit, and which other place (a sector
/// of the same file or of another one), is drawn from `seed`. A lie that the call cannot tell is none.
void sim_tell_lie(
  sim_disk *disk, sim_lie lie, sim_call call, const char *pattern, uint64_t skip, uint64_t seed, bool sticky
);

/// Return address of the call of the core that failed last because of `sim_fail`; NULL when none did. Tells call sites
/// apart.
const void *sim_failed_site(const sim_disk *disk);

void sim_clear_faults(sim_disk *disk);  ///< forgets all that wait, ignored syncs and lies too

/// What becomes of unsynced writes (of a folder: names) when `sync` fails. In each case they count as clean from then
/// on: reads still see them, no later `sync` makes them durable. They reached the disk or not.
typedef enum sim_failed_sync {
  SIM_FAILED_SYNC_LOSES,  ///< none did (the default)
  SIM_FAILED_SYNC_KEEPS,  ///< all did, in spite of the error
  SIM_FAILED_SYNC_RANDOM,
} sim_failed_sync;
void sim_set_failed_sync(sim_disk *disk, sim_failed_sync mode);

/// Bytes that files may take together, each rounded up to sectors; ENOSPC beyond. SIM_NEVER: no limit. Unlinked files
/// count while open.
void sim_set_capacity(sim_disk *disk, uint64_t byte_count);
uint64_t sim_used_bytes(const sim_disk *disk);

void sim_set_read_only(sim_disk *disk, bool read_only);  ///< EROFS for what would change something
void sim_set_vague_lists(sim_disk *disk, bool vague);    ///< `list` says PKS_VFS_KIND_OTHER, as some file systems do
void sim_advance_clock(sim_disk *disk, int64_t nanoseconds);  ///< besides the microsecond that each call takes

/// XORs one byte of a file with `mask` wherever it is stored: live, durable, mapped and unsynced. ENOENT, or EINVAL
/// past the end.
int sim_corrupt(sim_disk *disk, const char *path, uint64_t offset, uint8_t mask);

// MARK: Set-up and assertions. None of these is a call of the core: they count nothing, obey no fault, and put durable
// things.

/// Writes a whole file in place, also a shorter one; missing folders are made. All of it durable, and with it what was
/// pending in its folders.
void sim_put_file(sim_disk *disk, const char *path, const void *bytes, size_t byte_count);
/// Writes a part of a file, and makes the file that long. Whole pages that were never written are holes.
void sim_put_part(sim_disk *disk, const char *path, uint64_t offset, const void *bytes, size_t byte_count);
void sim_put_folder(sim_disk *disk, const char *path);
void sim_put_link(sim_disk *disk, const char *path, const char *target);
int sim_set_executable(sim_disk *disk, const char *path, bool executable);
int sim_remove(sim_disk *disk, const char *path);  ///< a file, or a folder with all in it; another process's `rm -r`

void *sim_read_file(sim_disk *disk, const char *path, size_t *byte_count);  ///< live bytes; NULL when it is no file
bool sim_exists(sim_disk *disk, const char *path);
/// Everything below a folder, one line each, sorted: relative path, then "/" for a folder, " -> target" for a link.
/// NULL: no such folder.
char *sim_list(sim_disk *disk, const char *folder);
uint64_t sim_fingerprint(sim_disk *disk);  ///< equal for equal live trees: names, kinds, sizes, bytes
uint64_t sim_fingerprint_of(sim_disk *disk, const char *folder);  ///< of what is below a folder; 0: no such folder

typedef struct sim_counts {
  uint64_t handles, maps, locks;  ///< open now, of processes that were not killed: what leak tests compare with zero
  uint64_t unsynced_pieces;       ///< sector pieces that a cut may lose, in files that have a name
  uint64_t unsynced_names;        ///< name operations that a cut may lose
  uint64_t bytes_written;         ///< by `write_at`, or found in mappings
  uint64_t bytes_read;            ///< by `read_at`
} sim_counts;
sim_counts sim_counts_now(sim_disk *disk);

// MARK: Debugging

/// Text of every call since, one a line, with its result, numbered by mutating calls; a crash result of a tracing disk
/// begins with what survived. Off unless asked for: it costs time.
void sim_set_trace(sim_disk *disk, bool on);
const char *sim_trace(const sim_disk *disk);  ///< valid until the next call

/// SplitMix64: advances `*state`; for tests that want the same generator.
uint64_t sim_next_random(uint64_t *state);

#endif
