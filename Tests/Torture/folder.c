#include "folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool folder_make_temporary(char out[4096]) {
  const char *parent = getenv("TMPDIR");
  (void)snprintf(out, 4096, "%s/packstore-torture.XXXXXX", parent && *parent ? parent : "/tmp");
  return mkdtemp(out) != NULL;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place) {
  (void)info, (void)kind, (void)place;
  (void)remove(path);
  return 0;
}

void folder_remove(const char *path) { (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

static bool copy_file(const char *from, const char *to) {
  char bytes[16384];
  int source = open(from, O_RDONLY | O_CLOEXEC), target = open(to, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  bool good = source >= 0 && target >= 0;
  for (ssize_t got = 1; good && got > 0;) {
    got = read(source, bytes, sizeof bytes);
    good = got >= 0 && write(target, bytes, (size_t)got) == got;
  }
  if (source >= 0) { (void)close(source); }
  if (target >= 0) { (void)close(target); }
  return good;
}

static bool clone_entry(const char *from, const char *to, const struct dirent *entry) {
  char source[4096 + 256], target[4096 + 256];
  if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) { return true; }
  (void)snprintf(source, sizeof source, "%s/%s", from, entry->d_name);
  (void)snprintf(target, sizeof target, "%s/%s", to, entry->d_name);
  struct stat info;
  if (lstat(source, &info) != 0) { return false; }
  if (S_ISDIR(info.st_mode)) { return folder_clone(source, target); }
  static const char *const own[] = {"CONTROL", "LOCK", "READERS"};
  bool is_own = false;
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) { is_own = is_own || strcmp(entry->d_name, own[i]) == 0; }
  return is_own ? copy_file(source, target) : link(source, target) == 0;
}

bool folder_clone(const char *from, const char *to) {
  DIR *stream = opendir(from);
  if (!stream) { return false; }
  bool good = mkdir(to, 0777) == 0;
  for (const struct dirent *entry = readdir(stream); good && entry; entry = readdir(stream)) {
    good = clone_entry(from, to, entry);
  }
  (void)closedir(stream);
  return good;
}
