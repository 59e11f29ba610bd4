/// Several processes and one store: a forked child must not affect its parent, and the files of a killed process.
///
///     processes STORE FOLDER [count]
///
/// FOLDER contains `hello.txt` and `large.bin`, which is large enough for several threads to read it. With `count`,
/// forks are detected by counting them, as on kernels that cannot wipe a child's pages.
#define _GNU_SOURCE 1
#include <CPackHash.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packstore.h"
#include "platform/vfs_posix.h"

static const char *store_path, *folder;
static pks_vfs vfs;

/// Prints the failed line, in the parent and in children, and ends the process.
#define REQUIRE(condition) require((condition), #condition, __LINE__)
static void require(bool condition, const char *text, int line) {
  if (condition) { return; }
  fprintf(stderr, "processes: line %d: %s\n", line, text);
  _exit(1);
}

static pks_store *open_store(void) {
  pks_store *store;
  pks_error error;
  pks_options options = {.sha256 = pkh_sha256, .create = true, .thread_count = 4, .vfs = &vfs};
  pks_status status = pks_store_open(&store, store_path, &options, &error);
  if (status) { fprintf(stderr, "processes: %s %s\n", error.text, error.file); }
  REQUIRE(!status);
  return store;
}

static pks_txn *stage(pks_store *store, const char *pack) {
  pks_txn *txn;
  pks_txn_options options = {.no_wait = true, .keep_versions = 1};
  pks_add_request request = {.pack = pack, .folder = folder};
  REQUIRE(!pks_txn_begin(&txn, store, &options, NULL));
  REQUIRE(!pks_txn_add_folder(NULL, txn, &request, NULL));
  return txn;
}

/// Commits another generation. A reader does not stand in the way of it: it would be BUSY.
static uint64_t move_on(pks_store *store) {
  static int32_t priority;
  pks_txn *txn;
  pks_txn_options options = {.no_wait = true};
  uint64_t generation;
  REQUIRE(!pks_txn_begin(&txn, store, &options, NULL));
  REQUIRE(!pks_txn_set_priority(txn, "First", ++priority, NULL));
  REQUIRE(!pks_txn_commit(txn, &generation, NULL));
  return generation;
}

/// Reads the assets of a snapshot; the large one on several threads.
static void read_all(const pks_snapshot *snapshot) {
  static const char *const paths[] = {"hello.txt", "large.bin"};
  for (size_t i = 0; i < 2; i++) {
    pks_asset asset;
    REQUIRE(!pks_snapshot_find(&asset, snapshot, paths[i], strlen(paths[i]), PKS_ANY_PACK, NULL));
    void *bytes = malloc(asset.size + 1);
    REQUIRE(bytes && !pks_asset_read(&asset, 0, bytes, asset.size, NULL));
    free(bytes);
  }
}

/// How many names a folder of the store has.
static int name_count(const char *name) {
  char path[4096];
  (void)snprintf(path, sizeof path, "%s/%s", store_path, name);
  DIR *stream = opendir(path);
  REQUIRE(stream);
  int count = -2;  // "." and ".."
  while (readdir(stream)) { count++; }
  (void)closedir(stream);
  return count;
}

/// Whether the file of a generation exists.
static bool has_generation(uint64_t number) {
  char path[4096];
  (void)snprintf(path, sizeof path, "%s/index/%016llx.generation", store_path, (unsigned long long)number);
  return access(path, F_OK) == 0;
}

static const off_t sessions = (off_t)1 << 62, session_count = (off_t)1 << 60;

/// Whether anything holds a lock on bytes of `LOCK`, or below the sessions on bytes of `READERS`.
static bool is_locked(off_t first, off_t count) {
  char path[4096];
  (void)snprintf(path, sizeof path, "%s/%s", store_path, first < sessions ? "READERS" : "LOCK");
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = first, .l_len = count};
  REQUIRE(file >= 0 && fcntl(file, F_OFD_GETLK, &range) == 0);
  close(file);
  return range.l_type != F_UNLCK;
}

// MARK: - A forked child

typedef struct inherited {
  pks_store *store;
  pks_snapshot *snapshot;
  pks_asset asset;
  pks_cursor *cursor;
  pks_txn *aborted, *committed;
} inherited;

static bool goes_on(void *context) { return context == NULL; }

/// Every call on the store returns an error, and changes nothing.
static void use_all(inherited *in) {
  pks_snapshot *snapshot;
  pks_txn *txn;
  pks_cursor *cursor;
  pks_entry entry;
  pks_asset asset, link = in->asset;
  pks_bytes bytes;
  pks_contents contents;
  pks_storage storage;
  pks_stat stat;
  pks_error error;
  char byte;
  bool more;
  int descriptor;
  uint64_t generation;
  link.kind = PKS_LINK;
  pks_add_request request = {.pack = "Child", .folder = folder};
  REQUIRE(pks_store_generation(&generation, in->store, NULL) == PKS_FORKED);
  REQUIRE(pks_snapshot_open(&snapshot, in->store, &error) == PKS_FORKED);
  REQUIRE(error.status == PKS_FORKED && error.text != NULL);
  REQUIRE(pks_snapshot_find(&asset, in->snapshot, "hello.txt", 9, PKS_ANY_PACK, NULL) == PKS_FORKED);
  REQUIRE(pks_asset_read(&in->asset, 0, &byte, 1, NULL) == PKS_FORKED);
  REQUIRE(pks_asset_read(&in->asset, 0, NULL, 0, NULL) == PKS_FORKED);
  REQUIRE(pks_asset_read_while(&in->asset, 0, &byte, 1, goes_on, NULL, NULL) == PKS_FORKED);
  REQUIRE(pks_asset_borrow(&bytes, &in->asset, NULL) == PKS_FORKED);
  REQUIRE(pks_asset_contents(&contents, &in->asset, NULL) == PKS_FORKED);
  REQUIRE(pks_asset_open_file(&descriptor, &in->asset, NULL) == PKS_FORKED);
  REQUIRE(pks_asset_storage(&storage, &in->asset, NULL) == PKS_FORKED);
  REQUIRE(pks_asset_link_target(&bytes, &link, NULL) == PKS_FORKED);
  REQUIRE(pks_cursor_open(&cursor, in->snapshot, "", 0, PKS_ANY_PACK, PKS_CHILDREN, NULL) == PKS_FORKED);
  REQUIRE(pks_cursor_next(&entry, &more, in->cursor, NULL) == PKS_FORKED);
  REQUIRE(pks_snapshot_stat(&stat, NULL, in->snapshot, NULL) == PKS_FORKED);
  REQUIRE(pks_snapshot_diff(in->snapshot, 0, 1, in->snapshot, 0, 1, NULL, NULL, NULL, NULL) == PKS_FORKED);
  REQUIRE(pks_snapshot_verify(in->snapshot, false, NULL, NULL, NULL, NULL, NULL) == PKS_FORKED);
  REQUIRE(pks_txn_begin(&txn, in->store, NULL, NULL) == PKS_FORKED);
  REQUIRE(pks_txn_add_folder(NULL, in->aborted, &request, NULL) == PKS_FORKED);
  REQUIRE(pks_txn_remove(in->aborted, "First", false, NULL) == PKS_FORKED);
  REQUIRE(pks_txn_rollback(in->aborted, "First", 0, false, NULL, NULL) == PKS_FORKED);
  REQUIRE(pks_txn_pin(in->aborted, "First", 1, NULL) == PKS_FORKED);
  REQUIRE(pks_txn_unpin(in->aborted, "First", NULL) == PKS_FORKED);
  REQUIRE(pks_txn_set_priority(in->aborted, "First", 7, NULL) == PKS_FORKED);
  REQUIRE(pks_txn_commit(in->committed, &generation, NULL) == PKS_FORKED);
}

static void close_all(inherited *in) {
  pks_cursor_close(in->cursor);
  pks_txn_abort(in->aborted);
  pks_snapshot_close(in->snapshot);
  pks_store_close(in->store);
}

/// A child can use stores that it opens itself.
static void use_again(void) {
  pks_store *store = open_store();
  pks_snapshot *snapshot;
  REQUIRE(!pks_snapshot_open(&snapshot, store, NULL));
  read_all(snapshot);
  REQUIRE(!pks_txn_commit(stage(store, "Child"), NULL, NULL));
  pks_snapshot_close(snapshot);
  pks_store_close(store);
}

/// Waits for a child that ends well.
static void join(pid_t child) {
  int status;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void check_forked_child(pks_store *store) {
  inherited in = {.store = store};
  pks_entry entry;
  bool more;
  pks_snapshot *newer;
  uint64_t before, newest, after;
  REQUIRE(!pks_snapshot_open(&in.snapshot, store, NULL));
  read_all(in.snapshot);
  REQUIRE(!pks_snapshot_find(&in.asset, in.snapshot, "hello.txt", 9, PKS_ANY_PACK, NULL));
  REQUIRE(!pks_cursor_open(&in.cursor, in.snapshot, "", 0, PKS_ANY_PACK, PKS_CHILDREN, NULL));
  before = pks_snapshot_generation(in.snapshot);
  // The store's own hold on that generation goes, so that the snapshot's is the last one.
  newest = move_on(store);
  REQUIRE(!pks_snapshot_open(&newer, store, NULL) && pks_snapshot_generation(newer) == newest);
  pks_snapshot_close(newer);
  in.aborted = stage(store, "Second");
  in.committed = stage(store, "Third");
  REQUIRE(is_locked((off_t)before, 1) && is_locked(sessions, session_count) && name_count("tmp") == 2);

  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(900);  // a child may not wait for threads that are its parent's
    use_all(&in);
    close_all(&in);
    use_again();
    _exit(0);
  }
  join(child);

  // Nothing of the parent's went with the child: locks, staged files, snapshot, cursor.
  REQUIRE(is_locked((off_t)before, 1) && is_locked(sessions, session_count) && name_count("tmp") == 2);
  read_all(in.snapshot);
  REQUIRE(!pks_cursor_next(&entry, &more, in.cursor, NULL) && more);
  REQUIRE(!pks_store_generation(&after, store, NULL) && after == newest + 1);
  REQUIRE(!pks_txn_commit(in.committed, &after, NULL) && after == newest + 2);
  REQUIRE(has_generation(before));
  pks_cursor_close(in.cursor);
  pks_txn_abort(in.aborted);
  pks_snapshot_close(in.snapshot);
  REQUIRE(name_count("tmp") == 0);
}

// MARK: - Children that live on

static pid_t start(void (*body)(pks_store *store), pks_store *store) {
  int ready[2];
  char byte;
  REQUIRE(pipe(ready) == 0);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(900);
    body(store);
    REQUIRE(write(ready[1], "", 1) == 1);
    for (;;) { pause(); }
  }
  close(ready[1]);
  REQUIRE(read(ready[0], &byte, 1) == 1);
  close(ready[0]);
  return child;
}

static void kill_at_once(pid_t child) {
  int status;
  REQUIRE(kill(child, SIGKILL) == 0);
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void do_nothing(pks_store *store) { (void)store; }

/// A child that never closes anything has the parent's open files while it lives. The parent can release them even so.
static void check_idle_child(pks_store *store) {
  pks_snapshot *snapshot;
  REQUIRE(!pks_snapshot_open(&snapshot, store, NULL));
  uint64_t before = pks_snapshot_generation(snapshot);
  pks_txn *txn = stage(store, "First");
  pid_t child = start(do_nothing, store);
  pks_txn_abort(txn);
  pks_snapshot_close(snapshot);
  uint64_t after = move_on(store);
  // The store's own view went from the old generation to the new one when it was opened.
  REQUIRE(!pks_snapshot_open(&snapshot, store, NULL) && pks_snapshot_generation(snapshot) == after);
  pks_snapshot_close(snapshot);
  REQUIRE(!is_locked((off_t)before, 1) && !is_locked(sessions, session_count));
  kill_at_once(child);
}

static void read_and_hold(pks_store *inherited) {
  (void)inherited;
  pks_store *store = open_store();
  pks_snapshot *snapshot;
  REQUIRE(!pks_snapshot_open(&snapshot, store, NULL));
  read_all(snapshot);
}

/// A reader keeps its generation and makes no process wait; once it is killed, nothing of it is left.
static void check_killed_reader(pks_store *store) {
  uint64_t held;
  REQUIRE(!pks_store_generation(&held, store, NULL));
  pid_t child = start(read_and_hold, store);
  for (int i = 0; i < 3; i++) { move_on(store); }
  REQUIRE(has_generation(held) && is_locked((off_t)held, 1));
  kill_at_once(child);
  REQUIRE(!is_locked((off_t)held, 1));
  move_on(store);
  REQUIRE(!has_generation(held));
}

static void stage_and_hold(pks_store *inherited) {
  (void)inherited;
  stage(open_store(), "Killed");
}

/// The next transaction deletes the staged files of a killed writer.
static void check_killed_writer(pks_store *store) {
  pid_t child = start(stage_and_hold, store);
  move_on(store);
  REQUIRE(name_count("tmp") == 1);
  kill_at_once(child);
  REQUIRE(name_count("tmp") == 1);
  move_on(store);
  REQUIRE(name_count("tmp") == 0);
}

int main(int count, char **arguments) {
  if (count < 3) {
    fprintf(stderr, "usage: processes STORE FOLDER [count]\n");
    return 2;
  }
  store_path = arguments[1];
  folder = arguments[2];
  vfs = *pks_vfs_posix();
  if (count > 3) { vfs.fork_mark = pks__vfs_posix_count_forks; }
  alarm(900);
  pks_store *store = open_store();
  REQUIRE(!pks_txn_commit(stage(store, "First"), NULL, NULL));
  check_forked_child(store);
  check_idle_child(store);
  check_killed_reader(store);
  check_killed_writer(store);
  pks_store_close(store);
  return 0;
}
