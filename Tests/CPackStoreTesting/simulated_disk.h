/// Internals of the simulated disk. `include/CPackStoreTesting.h` explains its purpose and its model.
///
///     simulated_image.c   bytes of a file: pages shared between images, images shared between disks
///     simulated_disk.c    nodes, names, unsynced logs, mappings; clone; helpers for tests
///     simulated_crash.c   which states a power cut may leave, and building one of them
///     simulated_vfs.c     the seam: handles, mappings, locks, clocks, processes
///     simulated_faults.c  stop points, faults, trace
///
/// Invariants
/// 1. A shared image, page or text (references > 1) is never changed. Several disks change only the reference counts,
///    so these are atomic.
/// 2. Without `lost`, the live image is the durable one with all `pieces` and the last of `sizes` applied; live names
///    are the durable ones with all `ops` applied. A failed sync sets `lost`: then some difference is not in any log.
/// 3. A node lives while a name (live, durable or in a log) or a holder (handle, mapping) refers to it. Numbers of dead
///    nodes are reused, lowest first, as file systems do.
/// 4. The `area` of a mapped file contains its live bytes; `sim__harvest` copies writes there to the live image and its
///    log.
#ifndef SIM_SIMULATED_DISK_H
#define SIM_SIMULATED_DISK_H

#include "include/CPackStoreTesting.h"

#define SIM__PRINTF(text, first) __attribute__((format(printf, text, first)))

/// Address space kept for each mapped file, so that it can grow while mapped and all its mappings see the same bytes. A file
/// that is longer cannot be mapped. Where pointers have 32 bits, there is less to keep.
static const size_t SIM__AREA_RESERVE = (size_t)1 << (sizeof(void *) > 4 ? 30 : 24);

enum {
  SIM__SECTOR = 512,  ///< unit that a disk writes completely or not at all
  SIM__PAGE = 4096,   ///< unit that images share
  SIM__NAME_MAX = 255,
  SIM__PATH_MAX = 4096,
};

// MARK: Bytes (simulated_image.c)

typedef struct sim__text {  ///< immutable
  _Atomic uint32_t references;
  uint32_t length;
  char bytes[];  ///< NUL-terminated
} sim__text;

typedef struct sim__page {
  _Atomic uint32_t references;
  _Atomic uint64_t sum;  ///< checksum of the bytes, for fingerprints; 0 before it is computed
  uint8_t bytes[SIM__PAGE];
} sim__page;

typedef struct sim__image {
  _Atomic uint32_t references;
  uint64_t size;
  size_t page_count, page_capacity;
  sim__page **pages;  ///< NULL: zeros; bytes past `size` are zeros
} sim__image;

void *sim__allocate(size_t byte_count);  ///< zeroed; aborts rather than return NULL
/// Makes room for item number `count`; returns the array, which may have moved.
void *sim__grow(void *array, size_t *capacity, size_t count, size_t item_size);
_Noreturn void sim__misuse(const char *what);

typedef struct sim__builder {  ///< a text that grows; NULL while empty
  char *bytes;
  size_t length, capacity;
} sim__builder;
void sim__build(sim__builder *builder, const char *format, ...) SIM__PRINTF(2, 3);

sim__text *sim__text_new(const char *bytes, size_t length);
sim__text *sim__text_retain(sim__text *text);
void sim__text_release(sim__text *text);

sim__image *sim__image_new(void);
sim__image *sim__image_retain(sim__image *image);
void sim__image_release(sim__image *image);
/// These replace `*image` by a copy first when it is shared.
void sim__image_extend(sim__image **image, uint64_t size);
void sim__image_write(sim__image **image, uint64_t offset, const void *bytes, size_t byte_count);  ///< extends too
/// Bytes past the end are zeros.
void sim__image_read(const sim__image *image, uint64_t offset, void *out, size_t byte_count);
/// The next pages that were written, from `offset` on: [*begin, *end), both UINT64_MAX if none are left.
void sim__image_find_data(const sim__image *image, uint64_t offset, uint64_t *begin, uint64_t *end);

// MARK: Nodes (simulated_disk.c)

typedef uint32_t sim__id;
enum { SIM__NONE = 0, SIM__ROOT = 1 };

typedef struct sim__piece {  ///< a sector as it was after one write
  uint64_t sector;
  uint8_t bytes[SIM__SECTOR];
} sim__piece;

typedef struct sim__entry {  ///< an entry of a folder, sorted by name; at least one of the two is a node
  sim__text *name;
  sim__id live, durable;
} sim__entry;

typedef struct sim__name_op {  ///< gives one name, or two at once, new meanings
  size_t count;
  sim__text *name[2];
  sim__id value[2];  ///< SIM__NONE: the name is removed
} sim__name_op;

typedef struct sim__node {
  pks_vfs_kind kind;
  bool executable;
  bool lost;
  uint32_t live_names, kept_names, holders;  ///< kept: by durable names and logs
  int64_t modified_ns;
  // file
  sim__image *live, *durable;
  sim__image *stale;  ///< the durable image before the last `sync`
  sim__piece *pieces;
  size_t piece_count, piece_capacity;
  uint64_t *sizes;  ///< rising, the first above the durable size
  size_t size_count, size_capacity;
  uint8_t *area;        ///< NULL: not mapped
  uint64_t area_bytes;  ///< accessible of the area, whole pages
  uint32_t maps, writable_maps;
  // folder
  sim__id parent;  ///< while it has a live name
  sim__entry *entries;
  size_t entry_count, entry_capacity;
  sim__name_op *ops;
  size_t op_count, op_capacity;
  // link
  sim__text *target;
} sim__node;

typedef struct sim__process {
  sim_disk *disk;
  pks_vfs vfs;
  uint64_t id;
  bool killed;
  uint32_t forks;
} sim__process;

typedef struct sim__handle {
  sim__process *owner;  ///< NULL: free
  sim__id node;
  bool readable, writable;
  sim__text *path;  ///< absolute, as opened
} sim__handle;

typedef struct sim__map {
  sim__process *owner;
  sim__id node;
  size_t byte_count;
  bool writable;
  uint8_t *copy;  ///< memory of a private mapping
} sim__map;

typedef struct sim__lock {
  pks_vfs_file handle;
  sim__id node;
  uint64_t start, end;
  bool exclusive;
} sim__lock;

typedef struct sim__rule {
  sim_call call;
  char *pattern;  ///< NULL: any
  uint64_t skip;
  int error;    ///< 0: claim success and do nothing, or tell `lie`
  sim_lie lie;  ///< 0: none
  uint64_t seed;
  bool sticky;
} sim__rule;

typedef struct sim__plan sim__plan;

struct sim_disk {
  sim__node **nodes;  ///< by id
  size_t node_count, node_capacity;
  sim__process **processes;
  size_t process_count, process_capacity;
  sim__handle *handles;
  size_t handle_count, handle_capacity;
  sim__map *maps;
  size_t map_count, map_capacity;
  size_t writable_map_count;
  sim__lock *locks;
  size_t lock_count, lock_capacity;
  sim__rule *rules;
  size_t rule_count, rule_capacity;
  const void *failed_site;

  uint64_t seed, random;
  uint64_t boots;  ///< power cuts so far
  int64_t clock_ns, slept_ns;
  uint64_t lock_questions;
  uint64_t capacity;
  sim_failed_sync failed_sync;
  bool read_only, vague_lists;

  uint64_t stop_left;
  bool frozen;  ///< stopped, and mappings were harvested for the last time
  uint64_t calls[SIM_CALL_COUNT];
  uint64_t bytes_written, bytes_read;

  sim__plan *plan;  ///< plan of the next power cut; NULL after a change

  bool tracing;
  sim__builder trace;
  char path[2 * SIM__PATH_MAX + 2], other_path[2 * SIM__PATH_MAX + 2];
};

static inline sim__node *sim__node_of(const sim_disk *disk, sim__id id) { return disk->nodes[id]; }

sim_disk *sim__new_like(const sim_disk *disk);  ///< settings copied, no nodes
sim__id sim__node_new(sim_disk *disk, pks_vfs_kind kind);
void sim__drop_if_unused(sim_disk *disk, sim__id id);
void sim__changed(sim_disk *disk);  ///< forgets the plan

typedef struct sim__place {
  sim__id parent;  ///< SIM__NONE when the path ended in "." or ".."
  /// SIM__NONE with ENOENT when only the last part is missing: then `parent` and `name` say where it would be
  sim__id node;
  char name[SIM__NAME_MAX + 1];
} sim__place;
int sim__resolve(sim_disk *disk, sim__id start, const char *path, bool follow_last, sim__place *out);

sim__entry *sim__find(const sim__node *folder, const char *name, size_t length, size_t *index);
void sim__append_entry(
  sim__node *folder, sim__text *name, sim__id value
);  ///< after all others, live and durable; takes the reference

/// Name operations: change live names, and log.
void sim__name_add(sim_disk *disk, sim__id folder, const char *name, sim__id node);
void sim__name_remove(sim_disk *disk, sim__id folder, const char *name);
void sim__name_move(sim_disk *disk, sim__id from, const char *from_name, sim__id to, const char *to_name);
size_t sim__live_entry_count(const sim__node *folder);
/// Makes those operations durable that `survives` marks (NULL: all), and forgets the log.
void sim__sync_folder(sim_disk *disk, sim__id folder, const bool *survives);

void sim__file_write(sim_disk *disk, sim__node *file, uint64_t offset, const void *bytes, size_t byte_count);
void sim__file_extend(sim_disk *disk, sim__node *file, uint64_t size);
void sim__sync_file(sim_disk *disk, sim__node *file);
void sim__file_forget_log(sim__node *file);

int sim__area_open(sim__node *file, bool writable);  ///< one more mapping
void sim__area_close(sim__node *file, bool writable);
void sim__harvest(sim_disk *disk);  ///< unless the disk is frozen

// MARK: Crash (simulated_crash.c)

void sim__plan_free(sim__plan *plan);
/// A failed `sync` in mode SIM_FAILED_SYNC_RANDOM: part of the log becomes durable, all of it is forgotten.
void sim__sync_some(sim_disk *disk, sim__id id);

// MARK: Seam (simulated_vfs.c)

sim__process *sim__process_new(sim_disk *disk, uint64_t id);

// MARK: Fate of calls (simulated_faults.c)

enum { SIM__CALL_NS = 1000 };  ///< duration of a call on the simulated clock

typedef struct sim__verdict {
  int error;
  bool injected;  ///< `error` is a fault asked for
  bool lies;      ///< succeed without effect
  sim_lie lie;    ///< succeed with another effect; 0: none
  uint64_t seed;
} sim__verdict;

/// Every call of the seam passes here first. If `error` or `lies` is set, the call only returns that result. But a
/// write or `sync` that fails by injection still has its effects. `other_path` may be NULL.
sim__verdict sim__enter_from(
  const void *site, sim__process *process, sim_call call, bool mutating, const char *path, const char *other_path
);
/// The site is where the function that contains this was called: in the functions of the seam, the core's call.
#define sim__enter(...) sim__enter_from(__builtin_return_address(0), __VA_ARGS__)
/// Adds the call to the trace, if tracing is on, and returns `error`.
int sim__traced(sim__process *process, int error, const char *format, ...) SIM__PRINTF(3, 4);

#endif
