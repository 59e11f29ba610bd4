#include "ingest/link_scope.h"

#include <errno.h>
#include <string.h>

enum {
  STEPS_MAX = 40,  ///< links on the way, as on Linux
  LEFT_MAX = 2 * (PKS__PATH_MAX + PKS__LINK_TARGET_MAX),
};

/// A way through the folder.
typedef struct link_walk {
  const pks_vfs *vfs;
  pks_vfs_file root;
  char here[PKS__PATH_MAX + 1];  ///< the walked path, free of links and of `..`
  size_t here_length;
  char left[LEFT_MAX + 1];  ///< the part still to be walked
  char target[PKS__LINK_TARGET_MAX + 1];
  uint32_t links;
  bool leads_out;
} link_walk;

static void leave(link_walk *walk) {
  while (walk->here_length > 0 && walk->here[walk->here_length - 1] != '/') { walk->here_length--; }
  if (walk->here_length > 0) { walk->here_length--; }
  walk->here[walk->here_length] = 0;
}

static int enter(link_walk *walk, const char *name, size_t length) {
  size_t slash = walk->here_length > 0;
  if (walk->here_length + slash + length > PKS__PATH_MAX) { return ENAMETOOLONG; }
  if (slash) { walk->here[walk->here_length] = '/'; }
  memcpy(walk->here + walk->here_length + slash, name, length);
  walk->here_length += slash + length;
  walk->here[walk->here_length] = 0;
  return 0;
}

/// Puts the target of the link at `here` before the remaining path, which begins at `rest`.
static int follow(link_walk *walk, const char *rest) {
  size_t length, rest_length = strlen(rest);
  if (++walk->links > STEPS_MAX) { return ELOOP; }
  int failure = pks__vfs_read_link(walk->vfs, walk->root, walk->here, walk->target, sizeof walk->target, &length);
  if (failure) { return failure; }
  walk->leads_out = walk->target[0] == '/';
  if (length + 1 + rest_length > LEFT_MAX) { return ENAMETOOLONG; }
  memmove(walk->left + length + 1, rest, rest_length + 1);
  memcpy(walk->left, walk->target, length);
  walk->left[length] = '/';
  leave(walk);
  return 0;
}

/// Processes one part of the remaining path.
static int step(link_walk *walk) {
  const char *name = walk->left, *rest = strchr(name, '/');
  size_t length = rest ? (size_t)(rest - name) : strlen(name);
  rest = rest ? rest + 1 : name + length;
  if (length == 2 && memcmp(name, "..", 2) == 0) {
    walk->leads_out = walk->here_length == 0;
    leave(walk);
  } else if (length > 0 && !(length == 1 && name[0] == '.')) {
    pks_vfs_info info;
    int failure = enter(walk, name, length);
    if (!failure) { failure = pks__vfs_info(walk->vfs, walk->root, walk->here, false, &info); }
    if (failure) { return failure; }
    if (info.kind == PKS_VFS_KIND_LINK) { return follow(walk, rest); }
  }
  memmove(walk->left, rest, strlen(rest) + 1);
  return 0;
}

int pks__link_leads_out(const pks_vfs *vfs, pks_vfs_file root, const char *path, bool *leads_out) {
  link_walk walk;
  size_t length = strlen(path);
  if (length > LEFT_MAX) { return ENAMETOOLONG; }
  walk.vfs = vfs;
  walk.root = root;
  walk.here_length = walk.links = 0;
  walk.here[0] = 0;
  walk.leads_out = false;
  memcpy(walk.left, path, length + 1);
  while (walk.left[0] && !walk.leads_out) {
    int failure = step(&walk);
    if (failure) { return failure; }
  }
  *leads_out = walk.leads_out;
  return 0;
}
