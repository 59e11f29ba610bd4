/// An app in C that uses packs as the header describes: `CHeaderTests` runs it with a site of its own.
///
///     managed-c PROPERTY-LIST       ends with 0, or prints the first failure
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <packmanaged.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void demand(bool holds, const char *what, const pkm_error *error) {
  if (holds) { return; }
  fprintf(stderr, "not so: %s (%s: %s)\n", what, pkm_status_name(error->status), error->message);
  exit(1);
}
#define DEMAND(condition) demand(condition, #condition, &error)

// MARK: - Events of downloads

typedef struct heard {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  char kinds[64];  ///< a letter for each thing
  uint64_t completed, total;
  pkm_manager *manager;
} heard;

static void hear(heard *heard, char kind) {
  pthread_mutex_lock(&heard->mutex);
  size_t length = strlen(heard->kinds);
  bool is_new = length == 0 || heard->kinds[length - 1] != kind;
  if (is_new && length + 1 < sizeof heard->kinds) { heard->kinds[length] = kind; }
  pthread_cond_broadcast(&heard->changed);
  pthread_mutex_unlock(&heard->mutex);
}

static void began(void *context, const pkm_pack *pack) { hear(context, strcmp(pack->id, "One") == 0 ? 'b' : '?'); }
static void finished(void *context, const pkm_pack *pack) { hear(context, pack->version == 1 ? 'f' : 'F'); }
static void failed(void *context, const pkm_pack *pack, const pkm_error *error) {
  (void)pack;
  hear(context, error->status == PKM_CANCELLED ? 'c' : 'e');
}
static void has_progress(void *context, const pkm_pack *pack, uint64_t completed, uint64_t total) {
  heard *heard = context;
  (void)pack;
  pthread_mutex_lock(&heard->mutex);
  bool falls = completed < heard->completed;
  heard->completed = completed;
  heard->total = total;
  pthread_mutex_unlock(&heard->mutex);
  hear(heard, falls || completed > total ? '!' : 'p');
}

static void wait_for(heard *heard, char kind) {
  pthread_mutex_lock(&heard->mutex);
  while (!strchr(heard->kinds, kind)) { pthread_cond_wait(&heard->changed, &heard->mutex); }
  pthread_mutex_unlock(&heard->mutex);
}

// MARK: - Steps

static void ask(pkm_manager *manager) {
  pkm_error error = {0};
  pkm_manifest manifest;
  DEMAND(pkm_manager_manifest(&manifest, manager, &error) == PKM_OK);
  DEMAND(
    manifest.count == 3 && strcmp(manifest.packs[0].id, "German") == 0 && strcmp(manifest.packs[1].id, "One") == 0
  );
  DEMAND(strcmp(manifest.packs[0].language, "de") == 0 && !manifest.packs[1].language);
  DEMAND(strcmp(manifest.packs[1].user_info, "{\"level\":7}") == 0 && !manifest.packs[0].user_info);
  DEMAND(manifest.packs[1].version == 1 && manifest.packs[1].download_bytes > 0);
  pkm_manifest_free(&manifest);
  DEMAND(manifest.count == 0 && !manifest.packs);
  uint32_t bits = 0;
  DEMAND(pkm_manager_status(&bits, manager, "One", &error) == PKM_OK && bits == PKM_DOWNLOAD_AVAILABLE);
  DEMAND(
    pkm_manager_status(&bits, manager, "None", &error) == PKM_ASSET_PACK_NOT_FOUND && strstr(error.message, "None")
  );
  DEMAND(pkm_manager_local_status(manager, "One") == 0 && !pkm_manager_is_available_locally(manager, "One"));
  uint64_t version = 9;
  DEMAND(pkm_manager_local_version(&version, manager, "One", NULL) == PKM_ASSET_PACK_NOT_FOUND && version == 9);
}

static void fetch(pkm_manager *manager) {
  pkm_error error = {0};
  heard heard = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
  pkm_delegate delegate = {
    .context = &heard, .began = began, .has_progress = has_progress, .finished = finished, .failed = failed};
  pkm_manager_set_delegate(manager, &delegate);
  const char *one[] = {"One"}, *both[] = {"One", "Two"}, *none[] = {"None", "One"};
  DEMAND(pkm_manager_ensure(manager, one, 1, false, &error) == PKM_OK);
  wait_for(&heard, 'f');
  DEMAND(heard.kinds[0] == 'b' && !strpbrk(heard.kinds, "?!e") && heard.completed == heard.total);
  pkm_manager_set_delegate(manager, NULL);
  DEMAND(pkm_manager_remove(manager, "One", &error) == PKM_OK);
  DEMAND(pkm_manager_ensure(manager, none, 2, false, &error) == PKM_LOCAL_AVAILABILITY);
  DEMAND(strstr(error.message, "1 of 2 asset packs are not available: None: no asset pack 'None' exists"));
  DEMAND(pkm_manager_ensure(manager, none, 1, false, &error) == PKM_ASSET_PACK_NOT_FOUND);
  DEMAND(pkm_manager_is_available_locally(manager, "One"));  // it came all the same
  DEMAND(pkm_manager_ensure(manager, both, 2, true, &error) == PKM_OK);
  uint32_t bits = 0;
  DEMAND(pkm_manager_status(&bits, manager, "One", &error) == PKM_OK);
  DEMAND(bits == (PKM_DOWNLOAD_AVAILABLE | PKM_UP_TO_DATE | PKM_DOWNLOADED));
  DEMAND(
    pkm_manager_local_status(manager, "One") == PKM_DOWNLOADED && pkm_manager_is_available_locally(manager, "Two")
  );
  uint64_t version = 0;
  DEMAND(pkm_manager_local_version(&version, manager, "One", &error) == PKM_OK && version == 1);
  DEMAND(
    !pkm_manager_pause(manager, "One") && !pkm_manager_resume(manager, "One") && !pkm_manager_cancel(manager, "One")
  );
  size_t updating = 9, removed = 9;
  DEMAND(
    pkm_manager_check_for_updates(&updating, &removed, manager, &error) == PKM_OK && updating == 0 && removed == 0
  );
  DEMAND(pkm_manager_ensure_essential(manager, &error) == PKM_OK);
}

/// The pack Later is for later versions of the app.
static void find_withheld(pkm_manager *manager) {
  pkm_error error = {0};
  pkm_withheld withheld;
  memset(&withheld, 0xff, sizeof(withheld));
  DEMAND(pkm_manager_withheld(&withheld, manager, "Later", &error) == PKM_OK);
  DEMAND(withheld.reason == PKM_WITHHELD_APP_VERSION && withheld.version == 1 && !withheld.blocking_pack[0]);
  const char *other[] = {"One", "None", "\xff"};
  for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++) {
    memset(&withheld, 0xff, sizeof(withheld));
    DEMAND(pkm_manager_withheld(&withheld, manager, other[i], &error) == PKM_OK);
    DEMAND(withheld.reason == PKM_NOT_WITHHELD && withheld.version == 0 && !withheld.blocking_pack[0]);
  }
}

static void read_files(pkm_manager *manager) {
  pkm_error error = {0};
  pkm_contents contents;
  DEMAND(pkm_manager_contents(&contents, manager, "Films/a.txt", NULL, &error) == PKM_OK);
  DEMAND(contents.count == 3 && memcmp(contents.bytes, "one", 3) == 0);
  pkm_contents_release(&contents);
  DEMAND(!contents.bytes && contents.count == 0);
  DEMAND(pkm_manager_contents(&contents, manager, "large.bin", "Two", &error) == PKM_OK && contents.count == 300000);
  for (size_t i = 0; i < contents.count; i++) { DEMAND(((const char *)contents.bytes)[i] == 'x'); }
  pkm_contents_release(&contents);
  DEMAND(pkm_manager_contents(&contents, manager, "empty", NULL, &error) == PKM_OK && contents.count == 0);
  pkm_contents_release(&contents);
  DEMAND(pkm_manager_contents(&contents, manager, "Films/a.txt", "Two", &error) == PKM_FILE_NOT_FOUND);
  DEMAND(pkm_manager_contents(&contents, manager, "../a", NULL, &error) == PKM_INVALID_ARGUMENT);
  DEMAND(pkm_manager_contents(&contents, manager, "a", "None", &error) == PKM_ASSET_PACK_NOT_FOUND);

  int file = -1;
  char bytes[8] = {0};
  DEMAND(pkm_manager_descriptor(&file, manager, "Films/b.txt", NULL, &error) == PKM_OK);
  DEMAND(read(file, bytes, sizeof bytes) == 3 && memcmp(bytes, "two", 3) == 0 && close(file) == 0);

  char *folder;
  DEMAND(pkm_manager_file_path(&folder, manager, "Films", &error) == PKM_OK);
  char path[4096];
  (void)snprintf(path, sizeof path, "%s/b.txt", folder);
  pkm_text_free(folder);
  file = open(path, O_RDONLY | O_CLOEXEC);
  DEMAND(file >= 0 && read(file, bytes, sizeof bytes) == 3 && close(file) == 0);
  DEMAND(pkm_manager_file_path(&folder, manager, "None", &error) == PKM_FILE_NOT_FOUND);
}

static void speak(pkm_manager *manager) {
  pkm_error error = {0};
  const char *german[] = {"German"};
  DEMAND(pkm_manager_set_language(manager, "de", &error) == PKM_OK);
  DEMAND(pkm_manager_set_language(manager, "no language", &error) != PKM_OK);
  DEMAND(pkm_manager_reconcile_languages(manager, &error) == PKM_OK);
  DEMAND(pkm_manager_ensure(manager, german, 1, false, &error) == PKM_OK);
  char *language = pkm_manager_resolved_language(manager);
  DEMAND(language && strcmp(language, "de") == 0);
  pkm_text_free(language);
  DEMAND(pkm_manager_set_language(manager, NULL, &error) == PKM_OK);
}

int main(int count, char **arguments) {
  pkm_error error = {0};
  pkm_manager *manager = NULL;
  if (count != 2) { return 2; }
  DEMAND(
    pkm_manager_open(&manager, "/nowhere.plist", &error) == PKM_CONFIGURATION && !manager
    && strstr(error.message, "/nowhere")
  );
  DEMAND(pkm_manager_open(&manager, arguments[1], &error) == PKM_OK);
  ask(manager);
  find_withheld(manager);
  fetch(manager);
  read_files(manager);
  speak(manager);
  DEMAND(pkm_manager_remove(manager, "One", &error) == PKM_OK);
  DEMAND(pkm_manager_remove(manager, "One", &error) == PKM_ASSET_PACK_NOT_FOUND);
  DEMAND(!pkm_manager_is_available_locally(manager, "One"));
  pkm_manager_close(manager);
  pkm_manager_close(NULL);
  puts("all as it should be");
  return 0;
}
