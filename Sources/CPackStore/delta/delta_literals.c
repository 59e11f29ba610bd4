#include "delta/delta_literals.h"

#include <string.h>

#include "base/memory.h"
#include "codec/hash_batch.h"

/// Maximum scratch memory of groups in flight, in bytes.
enum { GROUPS_MAX = 16 * 1024 * 1024 };

/// Remembered frames of version A: those that each thread reads, and those that the next group usually begins with.
static pks__frame_cache_limits cache_limits(uint32_t threads) {
  return (pks__frame_cache_limits){.least_count = threads + 2, .most_count = threads + 2, .frame_bytes = 160 * 1024};
}

typedef struct group_chunk {
  uint32_t offset;  ///< in the group
  uint32_t length;
  pks__id id;
} group_chunk;

/// A group on its way. `task` comes first: the pool hands it back.
struct pks__new_group {
  pks__task task;
  const pks__delta_literals *all;
  const pks__delta_block *block;
  uint32_t number;
  uint64_t offset;    ///< offset of the block in the file
  uint64_t position;  ///< of its first byte among the new bytes
  pks__decoder *decoder;
  pks__version_reader reader;
  pks__scratch memory;             ///< stored bytes, prefix, raw bytes
  uint8_t *stored, *prefix, *raw;  ///< in it
  uint8_t *lists;
  size_t lists_capacity;
  uint32_t raw_length;
  group_chunk *chunks;
  uint32_t chunk_count;
  pks_status status;
  pks_error error;
};

// MARK: - Decoding

/// Returns the lists in decoded form; NULL if they are invalid, or memory is short.
static const uint8_t *decode_lists(pks__new_group *group, const pks__delta_group *parts, pks_status *status) {
  if (!(parts->form & PKS__DELTA_LISTS_ENCODED)) { return parts->lists; }
  if (group->lists_capacity < parts->lists_raw_length) {
    pks__free(group->lists);
    group->lists = pks__allocate(parts->lists_raw_length);
    group->lists_capacity = group->lists ? parts->lists_raw_length : 0;
    if (!group->lists) { *status = pks__fail_memory(&group->error); }
  }
  bool decodes = group->lists
    && pks__decode(group->decoder, parts->lists, parts->lists_stored_length, group->lists, parts->lists_raw_length);
  return decodes ? group->lists : NULL;
}

static pks_status gather_prefix(pks__new_group *group, pks__delta_lists *lists, size_t *length, pks_error *error) {
  const pks__delta_literals *all = group->all;
  pks__delta_prefix_part piece;
  *length = 0;
  while (pks__delta_next_piece(lists, all->from->byte_count, all->file->header.prefix_max, &piece)) {
    pks_status status = pks__version_read(&group->reader, piece.position, group->prefix + *length, piece.length, error);
    if (status) { return status; }
    *length += piece.length;
  }
  return PKS_OK;
}

static void add_covers(pks__new_group *group, pks__delta_lists *lists, size_t prefix_length) {
  pks__delta_cover cover;
  pks__delta_begin_covers(lists);
  while (pks__delta_next_cover(lists, group->raw_length, prefix_length, &cover)) {
    uint8_t *to = group->raw + cover.begin;
    const uint8_t *add = group->prefix + cover.prefix;
    for (uint32_t i = 0; i < cover.length; i++) { to[i] = (uint8_t)(to[i] + add[i]); }
  }
}

static bool decode_bytes(pks__new_group *group, const pks__delta_group *parts, size_t prefix_length) {
  if (!(parts->form & PKS__DELTA_BYTES_ENCODED)) {
    memcpy(group->raw, parts->bytes, group->raw_length);
    return true;
  }
  return pks__decode_after(
    group->decoder, group->prefix, prefix_length, parts->bytes, parts->bytes_length, group->raw, group->raw_length
  );
}

/// `*decodes` is false if the group is invalid, or memory is short.
static pks_status decode_after_prefix(
  pks__new_group *group, const pks__delta_group *parts, const uint8_t *lists, bool *decodes, pks_error *error
) {
  size_t prefix_length;
  pks__delta_lists walk;
  pks__delta_lists_begin(&walk, lists, parts->lists_raw_length);
  pks_status status = gather_prefix(group, &walk, &prefix_length, error);
  if (status || walk.reader.failed || !decode_bytes(group, parts, prefix_length)) { return status; }
  add_covers(group, &walk, prefix_length);
  *decodes = pks__delta_lists_end(&walk);
  return PKS_OK;
}

static pks__delta_copies begin_copies(
  const pks__new_group *group, const pks__delta_group *parts, const uint8_t *lists
) {
  const pks__delta_literals *all = group->all;
  pks__delta_copies copies;
  pks__delta_copies_begin(
    &copies, lists, parts->lists_raw_length, all->steps, group->position, group->raw_length, all->from->byte_count
  );
  return copies;
}

/// Decodes the literals after the last of the copies to the end of the group's memory, where they do not get in the way of earlier
/// bytes. Returns whether that was all of the group.
static bool decode_literals(
  pks__new_group *group, const pks__delta_group *parts, pks__delta_copies *copies, uint32_t length
) {
  uint8_t *out = group->raw + (group->raw_length - length);
  bool is_coded = parts->form & PKS__DELTA_LITERALS_CODED;
  if (is_coded && !copies->failed) { pks__delta_read_literals(copies, out, length); }
  if (!pks__delta_copies_end(copies)) { return false; }
  if (is_coded) { return length > 0 && parts->bytes_length == 0; }
  if (!(parts->form & PKS__DELTA_BYTES_ENCODED)) {
    bool fits = parts->bytes_length == length;
    if (fits && length > 0) { memcpy(out, parts->bytes, length); }
    return fits;
  }
  return length > 0 && pks__decode(group->decoder, parts->bytes, parts->bytes_length, out, length);
}

/// As above. The first walk checks the copies and counts the literals.
static pks_status decode_copies(
  pks__new_group *group, const pks__delta_group *parts, const uint8_t *lists, bool *decodes, pks_error *error
) {
  pks__delta_copies copies = begin_copies(group, parts, lists);
  pks__delta_copy copy;
  uint32_t literals = group->raw_length, done = 0;
  while (pks__delta_next_copy(&copies, &copy)) { literals -= copy.length; }
  if (!decode_literals(group, parts, &copies, literals)) { return PKS_OK; }
  const uint8_t *next = group->raw + (group->raw_length - literals);
  copies = begin_copies(group, parts, lists);
  while (pks__delta_next_copy(&copies, &copy)) {
    memmove(group->raw + done, next, copy.begin - done);
    next += copy.begin - done;
    done = copy.begin + copy.length;
    pks_status status = pks__version_read(&group->reader, copy.position, group->raw + copy.begin, copy.length, error);
    if (status) { return status; }
  }
  *decodes = true;  // the literals after the last copy are in place
  return PKS_OK;
}

static pks_status decode(pks__new_group *group, pks_error *error) {
  const pks__delta_file *file = group->all->file;
  pks_status status = pks__delta_file_check(file, group->block, group->offset, group->stored, error);
  if (status) { return status; }
  pks__delta_group parts;
  size_t stored_length = pks__get32(group->block->stored_length);
  if (!pks__delta_read_group(group->stored, stored_length, group->raw_length, &parts)) {
    return pks__delta_file_bad_block(file, group->offset, error);
  }
  const uint8_t *lists = decode_lists(group, &parts, &status);
  if (!lists) { return status ? status : pks__delta_file_bad_block(file, group->offset, error); }
  bool decodes = false;
  status = parts.form & PKS__DELTA_COPIED ? decode_copies(group, &parts, lists, &decodes, error)
                                          : decode_after_prefix(group, &parts, lists, &decodes, error);
  if (status || decodes) { return status; }
  if (pks__decoder_lacks_memory(group->decoder)) { return pks__fail_memory(error); }
  return pks__delta_file_bad_block(file, group->offset, error);
}

// MARK: - Cutting and hashing

static pks_status cut(pks__new_group *group, pks_error *error) {
  const pks__delta_literals *all = group->all;
  uint64_t step = pks__new_steps_find(all->steps, group->position);
  uint32_t offset = 0;
  pks__hash_batch batch;
  pks__hash_batch_begin(&batch, all->file->sha256, all->sha256_many);
  group->chunk_count = 0;
  while (offset < group->raw_length) {
    uint64_t step_end = *PKS__SCRATCH_AT(&all->steps->ends, const uint64_t, step) - group->position;
    uint32_t end = (uint32_t)pks__min64(step_end, group->raw_length);
    if (group->chunk_count == PKS__DELTA_GROUP_CHUNKS) {
      return pks__delta_file_bad_block(all->file, group->offset, error);
    }
    group_chunk *chunk = &group->chunks[group->chunk_count++];
    chunk->offset = offset;
    chunk->length = (uint32_t)pks__chunker_cut(&all->chunker, group->raw + offset, end - offset);
    pks__hash_batch_add(&batch, group->raw + offset, chunk->length, chunk->id.bytes);
    offset += chunk->length;
    if (offset == step_end) { step++; }
  }
  pks__hash_batch_flush(&batch);
  return PKS_OK;
}

static void run_group(pks__task *task, uint32_t worker) {
  (void)worker;
  pks__new_group *group = (pks__new_group *)(void *)task;
  group->status = decode(group, &group->error);
  // Another group uses its reader next: there are no more readers than threads.
  pks__version_reader_close(&group->reader);
  if (!group->status) { group->status = cut(group, &group->error); }
}

// MARK: - The ring

/// Returns the memory of a group, in bytes.
static uint64_t bytes_each(const pks__delta_literals *bytes) {
  const pks__delta_header *header = &bytes->file->header;
  return (uint64_t)bytes->stored_max + header->prefix_max + header->group_max;
}

static pks_status allocate_group(pks__delta_literals *bytes, pks__new_group *group, pks_error *error) {
  const pks__delta_header *header = &bytes->file->header;
  group->all = bytes;
  group->task.run = run_group;
  group->reader = (pks__version_reader){.list = bytes->from, .cache = &bytes->cache};
  group->decoder = pks__decoder_create();
  group->chunks = pks__allocate(PKS__DELTA_GROUP_CHUNKS * sizeof *group->chunks);
  if (!group->decoder || !group->chunks) { return pks__fail_memory(error); }
  pks__scratch_init(&group->memory, bytes->home);
  pks_status status = pks__scratch_reserve(&group->memory, bytes_each(bytes), error);
  if (status) { return status; }
  group->stored = group->memory.bytes;
  group->prefix = group->stored + bytes->stored_max;
  group->raw = group->prefix + header->prefix_max;
  return PKS_OK;
}

static void free_group(pks__new_group *group) {
  pks__version_reader_close(&group->reader);
  pks__decoder_destroy(group->decoder);
  pks__scratch_free(&group->memory);
  pks__free(group->lists);
  pks__free(group->chunks);
}

/// As many groups as fit, and no more than there are threads to decode and one to consume.
static uint32_t choose_ring_size(const pks__delta_literals *bytes) {
  const pks__delta_header *header = &bytes->file->header;
  uint64_t most = pks__min64(pks__pool_thread_count(bytes->pool) + 1, header->group_count);
  uint64_t fitting = GROUPS_MAX / bytes_each(bytes);
  return (uint32_t)pks__min64(most, fitting ? fitting : 1);
}

/// Reads the group at `bytes->next_group`, and moves on.
static pks_status read_group(pks__delta_literals *bytes, pks__new_group *group, pks_error *error) {
  const pks__delta_header *header = &bytes->file->header;
  group->number = bytes->next_group;
  group->block = &bytes->file->blocks[header->part_count + bytes->next_group];
  group->offset = bytes->next_offset;
  group->position = bytes->next_position;
  group->raw_length = pks__get32(group->block->raw_length);
  bytes->next_group++;
  bytes->next_offset += pks__get32(group->block->stored_length);
  bytes->next_position += group->raw_length;
  return pks__delta_file_read(bytes->file, group->block, group->offset, group->stored, error);
}

static pks_status fill_ring(pks__delta_literals *bytes, pks_error *error) {
  while (bytes->count < bytes->ring_size && bytes->next_group < bytes->file->header.group_count) {
    pks__new_group *group = &bytes->groups[(bytes->oldest + bytes->count) % bytes->ring_size];
    pks_status status = read_group(bytes, group, error);
    if (status) { return status; }
    bytes->count++;
    pks__pool_submit(bytes->pool, &group->task);
  }
  return PKS_OK;
}

pks_status pks__delta_literals_open(
  pks__delta_literals *out, const pks__delta_file *file, const pks__version_list *from, const pks__new_steps *steps,
  pks_sha256_many *sha256_many, pks__pool *pool, pks__scratch_folder *home, pks_error *error
) {
  const pks__delta_header *header = &file->header;
  *out = (pks__delta_literals){
    .file = file,
    .from = from,
    .steps = steps,
    .sha256_many = sha256_many,
    .chunker = pks__chunker_make(header->chunk_average),
    .pool = pool,
    .home = home,
    .next_offset = pks__delta_file_groups(file),
  };
  for (uint32_t i = header->part_count; i < header->part_count + header->group_count; i++) {
    uint32_t stored_length = pks__get32(file->blocks[i].stored_length);
    if (stored_length > out->stored_max) { out->stored_max = stored_length; }
  }
  if (header->group_count == 0) { return PKS_OK; }
  pks__frame_cache_limits limits = cache_limits(pks__pool_thread_count(pool));
  pks_status status = pks__frame_cache_open(&out->cache, &limits, error);
  if (status) { return status; }
  out->ring_size = choose_ring_size(out);
  out->groups = pks__allocate_zeroed(out->ring_size, sizeof *out->groups);
  if (!out->groups) { return pks__fail_memory(error); }
  for (uint32_t i = 0; i < out->ring_size; i++) {
    status = allocate_group(out, &out->groups[i], error);
    if (status) { return status; }
  }
  return fill_ring(out, error);
}

void pks__delta_literals_close(pks__delta_literals *bytes) {
  for (uint32_t i = 0; i < bytes->count; i++) {
    pks__pool_finish(bytes->pool, &bytes->groups[(bytes->oldest + i) % bytes->ring_size].task);
  }
  for (uint32_t i = 0; bytes->groups && i < bytes->ring_size; i++) { free_group(&bytes->groups[i]); }
  pks__free(bytes->groups);
  if (bytes->again) { free_group(bytes->again); }
  pks__free(bytes->again);
  pks__frame_cache_close(&bytes->cache);
  *bytes = (pks__delta_literals){0};
}

static pks_status settle(const pks__new_group *group, pks_error *error) {
  if (group->status && error) { *error = group->error; }
  return group->status;
}

pks_status pks__delta_literals_next(pks__delta_literals *bytes, pks__new_chunk *out, pks_error *error) {
  pks_status status = PKS_OK;
  pks__new_group *group = bytes->count > 0 ? &bytes->groups[bytes->oldest] : NULL;
  if (group && bytes->next_chunk > 0 && bytes->next_chunk == group->chunk_count) {
    // Consumed groups make room for the next one.
    bytes->oldest = (bytes->oldest + 1) % bytes->ring_size;
    bytes->count--;
    bytes->next_chunk = 0;
    status = fill_ring(bytes, error);
    group = bytes->count > 0 ? &bytes->groups[bytes->oldest] : NULL;
  }
  if (status) { return status; }
  if (!group) { return pks__delta_file_bad_block(bytes->file, bytes->file->length, error); }
  if (bytes->next_chunk == 0) {
    pks__pool_finish(bytes->pool, &group->task);
    status = settle(group, error);
    if (status) { return status; }
  }
  const group_chunk *chunk = &group->chunks[bytes->next_chunk++];
  *out = (pks__new_chunk){.bytes = group->raw + chunk->offset, .length = chunk->length, .id = chunk->id};
  return PKS_OK;
}

// MARK: - Reading again

/// Decodes the group that holds `position`. Groups are mostly asked for in rising order.
static pks_status decode_again(pks__delta_literals *bytes, uint64_t position, pks_error *error) {
  pks__new_group *group = bytes->again;
  const pks__delta_file *file = bytes->file;
  if (group->block && position >= group->position && position - group->position < group->raw_length) { return PKS_OK; }
  bool goes_on = group->block && position >= group->position;
  // A walk of its own through the blocks: the ring goes on where it is.
  pks__delta_literals walk = *bytes;
  walk.next_group = goes_on ? group->number : 0;
  walk.next_offset = goes_on ? group->offset : pks__delta_file_groups(file);
  walk.next_position = goes_on ? group->position : 0;
  group->block = NULL;
  for (const pks__delta_block *block = &file->blocks[file->header.part_count + walk.next_group];
       walk.next_group < file->header.group_count; walk.next_group++, block++) {
    if (position - walk.next_position < pks__get32(block->raw_length)) { break; }
    walk.next_offset += pks__get32(block->stored_length);
    walk.next_position += pks__get32(block->raw_length);
  }
  if (walk.next_group == file->header.group_count) { return pks__delta_file_bad_block(file, file->length, error); }
  pks_status status = read_group(&walk, group, error);
  if (!status) {
    status = decode(group, &group->error);
    if (status && error) { *error = group->error; }
  }
  if (status) { group->block = NULL; }
  return status;
}

pks_status pks__delta_literals_read(
  pks__delta_literals *bytes, uint64_t position, uint8_t *out, uint32_t length, pks_error *error
) {
  pks_status status = PKS_OK;
  if (!bytes->again) {
    bytes->again = pks__allocate_zeroed(1, sizeof *bytes->again);
    status = bytes->again ? allocate_group(bytes, bytes->again, error) : pks__fail_memory(error);
  }
  if (!status) { status = decode_again(bytes, position, error); }
  if (status) { return status; }
  const pks__new_group *group = bytes->again;
  uint64_t begin = position - group->position;
  if (length > group->raw_length - begin) { return pks__delta_file_bad_block(bytes->file, group->offset, error); }
  memcpy(out, group->raw + begin, length);
  return PKS_OK;
}
