#include "content.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ASSETS = 12, LINK = 6, COMING_AND_GOING = 3, FIRST_LONG = 2, SECOND_LONG = 4 };

static const char *const names[PACK_COUNT] = {"Left", "Right", "A", "B", "C", "Raw", "Large"};
static const uint64_t periods[ASSETS] = {1, 2, 4, 3, 7, 5, 2, 1, 8, 3, 13, 2};

uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

uint64_t random_below(uint64_t *state, uint64_t bound) { return next_random(state) % bound; }

static uint64_t mixed(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t state = a * 0x9e3779b97f4a7c15 ^ b * 0xc2b2ae3d27d4eb4f ^ c * 0x165667b19e3779f9;
  return next_random(&state);
}

const char *content_pack(uint32_t pack) { return names[pack]; }

uint32_t content_count(uint32_t pack) {
  (void)pack;
  return ASSETS;
}

bool content_is_link(uint32_t asset) { return asset == LINK; }
bool content_is_shared(uint32_t asset) { return asset % 4 == 1; }

bool content_is_there(uint32_t pack, uint32_t asset, uint64_t version) {
  return asset % 4 != COMING_AND_GOING || mixed(pack, asset, version / 4) % 3 > 0;
}

uint64_t content_revision(uint32_t pack, uint32_t asset, uint64_t version) {
  // Shifted by pack, so that different assets of each pack change together.
  uint64_t into = (version + pack + asset) % periods[asset];
  return into < version ? version - into : 0;
}

void content_path(uint32_t pack, uint32_t asset, char out[CONTENT_PATH_SIZE]) {
  if (content_is_shared(asset)) {
    (void)snprintf(out, CONTENT_PATH_SIZE, "shared/%u", asset);
  } else {
    (void)snprintf(out, CONTENT_PATH_SIZE, "%s/folder %u/asset %u", names[pack], asset % 3, asset);
  }
}

static bool is_long(uint32_t pack, uint32_t asset) {
  return pack == PACK_LARGE ? asset == FIRST_LONG || asset == SECOND_LONG : pack == PACK_RAW && asset == FIRST_LONG;
}

static bool is_noise(uint32_t pack, uint32_t asset) { return pack == PACK_RAW || asset == SECOND_LONG + 1; }

uint64_t content_size(uint32_t pack, uint32_t asset, uint64_t revision) {
  uint64_t draw = mixed(pack, asset, revision ^ 0x517e);
  if (is_long(pack, asset)) { return pack == PACK_RAW ? 65536 + draw % 100000 : (1 << 20) + draw % 300000; }
  return asset == 8 && draw % 2 ? 0 : draw % 2500;
}

/// Returns eight bytes: random ones, or few distinct values so that they compress.
static uint64_t word(uint64_t key, uint64_t index, bool noise) {
  uint64_t state = key + index * 0x9e3779b97f4a7c15;
  uint64_t any = next_random(&state);
  return noise ? any : (any & 0x0303030303030303) | 0x6060606060606060;
}

void content_fill(uint32_t pack, uint32_t asset, uint64_t revision, uint64_t offset, void *out, size_t byte_count) {
  uint64_t key = mixed(pack, asset, revision);
  bool noise = is_noise(pack, asset);
  uint8_t *at = out;
  while (byte_count > 0) {
    uint64_t value = word(key, offset / 8, noise);
    size_t skip = (size_t)(offset % 8), step = byte_count < 8 - skip ? byte_count : 8 - skip;
    memcpy(at, (const uint8_t *)&value + skip, step);
    at += step, offset += step, byte_count -= step;
  }
}

bool content_is(
  uint32_t pack, uint32_t asset, uint64_t revision, uint64_t offset, const void *bytes, size_t byte_count
) {
  const uint8_t *at = bytes;
  uint8_t expected[512];
  for (size_t done = 0; done < byte_count;) {
    size_t step = byte_count - done < sizeof expected ? byte_count - done : sizeof expected;
    content_fill(pack, asset, revision, offset + done, expected, step);
    if (memcmp(at + done, expected, step) != 0) { return false; }
    done += step;
  }
  return true;
}

void content_target(uint32_t pack, uint32_t asset, uint64_t revision, char out[CONTENT_PATH_SIZE]) {
  (void)snprintf(out, CONTENT_PATH_SIZE, "../%s %u of %llu", names[pack], asset, (unsigned long long)revision);
}

// MARK: - Folders

static bool make_folders_above(char *path, size_t root_length) {
  for (char *slash = strchr(path + root_length + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
    *slash = '/';
    if (!made) { return false; }
  }
  return true;
}

static bool write_asset(const char *path, uint32_t pack, uint32_t asset, uint64_t revision) {
  if (content_is_link(asset)) {
    char target[CONTENT_PATH_SIZE];
    content_target(pack, asset, revision, target);
    return symlink(target, path) == 0;
  }
  int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0) { return false; }
  uint8_t buffer[16384];
  uint64_t size = content_size(pack, asset, revision);
  bool good = true;
  for (uint64_t at = 0; good && at < size;) {
    size_t step = size - at < sizeof buffer ? (size_t)(size - at) : sizeof buffer;
    content_fill(pack, asset, revision, at, buffer, step);
    good = write(file, buffer, step) == (ssize_t)step;
    at += step;
  }
  return (close(file) == 0) & good;
}

bool content_write(const char *folder, uint32_t pack, uint64_t version, content_held *held) {
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) { return false; }
  for (uint32_t asset = 0; asset < ASSETS; asset++) {
    bool is_there = content_is_there(pack, asset, version);
    uint64_t revision = content_revision(pack, asset, version), wanted = is_there ? revision + 1 : 0;
    if (held->revisions[asset] == wanted) { continue; }
    char path[4096], relative[CONTENT_PATH_SIZE];
    content_path(pack, asset, relative);
    (void)snprintf(path, sizeof path, "%s/%s", folder, relative);
    // Creates a new file instead of truncating: file systems write truncated files immediately.
    if (held->revisions[asset] && unlink(path) != 0) { return false; }
    held->revisions[asset] = 0;
    bool good = !is_there || (make_folders_above(path, strlen(folder)) && write_asset(path, pack, asset, revision));
    if (!good) { return false; }
    held->revisions[asset] = wanted;
  }
  return true;
}
