/// Building a delta: plan, index, groups on all threads, header.
///
/// Groups are written in order, regardless of the encoding thread. The number of groups determines the header's length. The header
/// comes last, because it contains the digests of all blocks.
///
/// Short groups are kept in memory at first. If all are short and none has a prefix, they are encoded once more as fewer groups,
/// because each one costs a digest and numbers that a decoder has to learn. If the whole delta is short, it is written in the short
/// form.
#include <string.h>

#include "base/memory.h"
#include "catalog/catalog.h"
#include "delta/delta_encode.h"
#include "delta/delta_file.h"
#include "delta/delta_header.h"
#include "delta/delta_part.h"
#include "delta/delta_short.h"
#include "ingest/staging.h"
#include "store/chunk_lookup.h"

enum {
  LEVEL_HIGH = 13,
  THREADS_MAX = 8,
  THREADS_MAX_HIGH = 4,   // from LEVEL_HIGH on an encoder takes about 50 MB
  HELD_MAX = 512 * 1024,  // bytes of groups that are kept in memory
};

/// A group on its way. `task` comes first: the pool hands it back.
typedef struct group_task {
  pks__task task;
  struct builder *builder;
  const pks__planned_group *group;
  uint8_t *stored;
  size_t stored_length;
  uint32_t prefix_length;
  pks__id digest;
  pks_status status;
  pks_error error;
} group_task;

typedef struct builder {
  const pks_delta_request *request;
  pks_store *store;
  pks__staging staging;  ///< zeroed when the store may not be written: then all is in memory
  pks__scratch_folder *home;
  pks__delta_plan plan;
  pks__scratch spans;  ///< pks__old_span: the indexed parts
  pks__delta_index index;
  pks__delta_effort effort;
  pks__pool *pool;
  pks__group_encoder **encoders;  ///< one per worker
  group_task *ring;
  uint32_t ring_size, oldest, count;
  uint32_t group_max;
  uint64_t next_group;
  bool holds, is_regrouped;            ///< whether groups are still kept in memory; are encoded for the second time
  pks__scratch held;                   ///< their stored bytes
  pks__scratch held_rows;              ///< pks__delta_block
  pks__scratch blocks;                 ///< pks__delta_block
  uint64_t offset;                     ///< offset of the next block in the file
  uint64_t bytes_before, bytes_total;  ///< for progress
  pks__scratch attributes;             ///< attributes of the new version
  pks__id to_attributes;
  pks__delta_header header;
} builder;

static pks_status write_bytes(
  const builder *builder, uint64_t offset, const void *bytes, size_t byte_count, pks_error *error
) {
  int failure = builder->request->write(builder->request->context, offset, bytes, byte_count);
  return failure ? pks__fail_system_about(error, failure, PKS_DETAIL_NONE, PKS_SUBJECT_DELTA, NULL, "cannot write")
                 : PKS_OK;
}

static pks_status write_block(
  builder *builder, const uint8_t *stored, const pks__delta_block *block, pks_error *error
) {
  uint32_t stored_length = pks__get32(block->stored_length);
  pks_status status = write_bytes(builder, builder->offset, stored, stored_length, error);
  builder->offset += stored_length;
  return status ? status : pks__scratch_append(&builder->blocks, block, sizeof *block, error);
}

static pks_status report(void *context, uint64_t bytes_done, pks_error *error) {
  const builder *builder = context;
  const pks_delta_request *request = builder->request;
  bool goes_on =
    !request->progress || request->progress(request->context, builder->bytes_before + bytes_done, builder->bytes_total);
  return goes_on ? PKS_OK : pks__fail(error, PKS_CANCELLED, "cancelled", NULL, PKS_NO_OFFSET);
}

// MARK: - Description

/// Leaves room for the header, whose length is known by now.
static pks_status leave_room(builder *builder, pks_error *error) {
  pks__scratch rows = {0}, bytes = {0};
  uint64_t count = (uint64_t)builder->header.part_count + builder->header.group_count;
  pks_status status = pks__scratch_append(&rows, NULL, count * sizeof(pks__delta_block), error);
  const pks__delta_block *blocks = PKS__SCRATCH_AT(&rows, const pks__delta_block, 0);
  if (!status) { status = pks__delta_put_header(&builder->header, blocks, &bytes, error); }
  builder->offset = builder->header.length;
  pks__scratch_free(&rows);
  pks__scratch_free(&bytes);
  return status;
}

static uint32_t part_count(const builder *builder) {
  return (uint32_t)((builder->plan.description.length + PKS__DELTA_PART - 1) / PKS__DELTA_PART);
}

/// Encodes a part of the description, from `begin` on, into `stored`. `*block` is its row.
static pks_status encode_part(
  const builder *builder, pks__encoder *encoder, uint64_t begin, uint8_t *stored, pks__delta_block *block,
  pks_error *error
) {
  const pks__scratch *description = &builder->plan.description;
  size_t length = (size_t)pks__min64(PKS__DELTA_PART, description->length - begin), stored_length;
  pks_status status =
    pks__delta_part_encode(encoder, description->bytes + begin, length, stored, &stored_length, error);
  if (status) { return status; }
  *block = (pks__delta_block
  ){.stored_length = pks__put32((uint32_t)stored_length), .raw_length = pks__put32((uint32_t)length)};
  builder->store->sha256(stored, stored_length, block->digest.bytes);
  return PKS_OK;
}

static pks_status write_description(builder *builder, pks_error *error) {
  pks__encoder *encoder = pks__encoder_create(builder->effort.level);
  uint8_t *stored = pks__allocate(pks__delta_part_capacity(PKS__DELTA_PART));
  pks_status status = encoder && stored ? PKS_OK : pks__fail_memory(error);
  for (uint64_t begin = 0; !status && begin < builder->plan.description.length; begin += PKS__DELTA_PART) {
    pks__delta_block block;
    status = encode_part(builder, encoder, begin, stored, &block, error);
    if (!status) { status = write_block(builder, stored, &block, error); }
  }
  pks__encoder_destroy(encoder);
  pks__free(stored);
  return status;
}

// MARK: - Groups

static void run_group(pks__task *task, uint32_t worker) {
  group_task *group = (group_task *)(void *)task;
  builder *builder = group->builder;
  group->status = pks__group_encode(
    builder->encoders[worker], group->group, group->stored, &group->stored_length, &group->prefix_length, &group->error
  );
  if (!group->status) { builder->store->sha256(group->stored, group->stored_length, group->digest.bytes); }
}

static const pks__planned_group *planned(const builder *builder, uint64_t index) {
  return PKS__SCRATCH_AT(&builder->plan.groups, const pks__planned_group, index);
}

static uint64_t group_count(const builder *builder) {
  return PKS__SCRATCH_COUNT(&builder->plan.groups, pks__planned_group);
}

/// Notes the number of groups and the longest one in the header.
static void count_groups(builder *builder) {
  pks__delta_header *header = &builder->header;
  header->group_count = (uint32_t)group_count(builder);
  header->group_max = 0;
  for (uint64_t i = 0; i < group_count(builder); i++) {
    if (planned(builder, i)->length > header->group_max) { header->group_max = planned(builder, i)->length; }
  }
  builder->group_max = header->group_max;
}

static pks_status open_groups(builder *builder, pks_error *error) {
  uint32_t threads = pks__pool_thread_count(builder->pool);
  builder->ring_size = threads + 2;
  builder->encoders = pks__allocate_zeroed(threads, sizeof *builder->encoders);
  builder->ring = pks__allocate_zeroed(builder->ring_size, sizeof *builder->ring);
  if (!builder->encoders || !builder->ring) { return pks__fail_memory(error); }
  for (uint32_t i = 0; i < threads; i++) {
    builder->encoders[i] =
      pks__group_encoder_create(&builder->plan, &builder->index, &builder->effort, builder->group_max);
    if (!builder->encoders[i]) { return pks__fail_memory(error); }
  }
  for (uint32_t i = 0; i < builder->ring_size; i++) {
    builder->ring[i].task.run = run_group;
    builder->ring[i].builder = builder;
    builder->ring[i].stored = pks__allocate(pks__group_stored_max(builder->group_max));
    if (!builder->ring[i].stored) { return pks__fail_memory(error); }
  }
  return PKS_OK;
}

static void close_groups(builder *builder) {
  for (uint32_t i = 0; i < builder->count; i++) {
    pks__pool_finish(builder->pool, &builder->ring[(builder->oldest + i) % builder->ring_size].task);
  }
  for (uint32_t i = 0; builder->ring && i < builder->ring_size; i++) { pks__free(builder->ring[i].stored); }
  for (uint32_t i = 0; builder->encoders && i < pks__pool_thread_count(builder->pool); i++) {
    pks__group_encoder_destroy(builder->encoders[i]);
  }
  pks__free(builder->ring);
  pks__free(builder->encoders);
  builder->ring = NULL;
  builder->encoders = NULL;
  builder->count = 0;
}

static void submit_groups(builder *builder) {
  while (builder->count < builder->ring_size && builder->next_group < group_count(builder)) {
    group_task *group = &builder->ring[(builder->oldest + builder->count++) % builder->ring_size];
    group->group = planned(builder, builder->next_group++);
    pks__pool_submit(builder->pool, &group->task);
  }
}

static pks__delta_block row_of(const group_task *group) {
  return (pks__delta_block){
    .stored_length = pks__put32((uint32_t)group->stored_length),
    .raw_length = pks__put32(group->group->length),
    .digest = group->digest,
  };
}

static pks_status hold_group(builder *builder, const group_task *group, pks_error *error) {
  pks__delta_block block = row_of(group);
  pks_status status = pks__scratch_append(&builder->held, group->stored, group->stored_length, error);
  return status ? status : pks__scratch_append(&builder->held_rows, &block, sizeof block, error);
}

/// Writes the description, and the groups that were kept in memory. The number of groups is final.
static pks_status write_held(builder *builder, pks_error *error) {
  builder->holds = false;
  pks_status status = leave_room(builder, error);
  if (!status) { status = write_description(builder, error); }
  if (!status && builder->held.length > 0) {
    status = write_bytes(builder, builder->offset, builder->held.bytes, (size_t)builder->held.length, error);
  }
  if (status) { return status; }
  builder->offset += builder->held.length;
  return pks__scratch_append(&builder->blocks, builder->held_rows.bytes, builder->held_rows.length, error);
}

static pks_status write_group(builder *builder, pks_error *error) {
  group_task *group = &builder->ring[builder->oldest];
  pks__pool_finish(builder->pool, &group->task);
  builder->oldest = (builder->oldest + 1) % builder->ring_size;
  builder->count--;
  if (group->status) {
    if (error) { *error = group->error; }
    return group->status;
  }
  if (group->prefix_length > builder->header.prefix_max) { builder->header.prefix_max = group->prefix_length; }
  // Groups with a prefix are not encoded again: they are kept only for the short form.
  uint64_t held_max = builder->header.prefix_max > 0 ? PKS__DELTA_SHORT_MAX : HELD_MAX;
  pks_status status = builder->holds && builder->held.length > held_max ? write_held(builder, error) : PKS_OK;
  if (!status && builder->holds) {
    status = hold_group(builder, group, error);
  } else if (!status) {
    pks__delta_block block = row_of(group);
    status = write_block(builder, group->stored, &block, error);
  }
  uint64_t done = builder->is_regrouped ? builder->plan.new_bytes : group->group->position + group->group->length;
  return status ? status : report(builder, done, error);
}

static pks_status encode_groups(builder *builder, pks_error *error) {
  pks_status status = open_groups(builder, error);
  if (!status) { submit_groups(builder); }
  while (!status && builder->count > 0) {
    status = write_group(builder, error);
    if (!status) { submit_groups(builder); }
  }
  close_groups(builder);
  return status;
}

/// Encodes all groups again, as fewer ones without prefixes.
static pks_status encode_again(builder *builder, pks_error *error) {
  pks_status status = pks__delta_plan_group(&builder->plan, PKS__DELTA_GROUP_COPIED, error);
  if (status) { return status; }
  builder->is_regrouped = builder->effort.only_copies = true;
  builder->held.length = builder->held_rows.length = 0;
  builder->next_group = 0;
  builder->oldest = 0;
  count_groups(builder);
  return encode_groups(builder, error);
}

/// Whether all of A is searched for similarities with the new bytes: unless it is large compared with them.
static bool takes_all(const pks__delta_plan *plan) {
  enum { ALL_MAX = 256 * 1024 * 1024, ALL_PER_NEW_BYTE = 32 };
  uint64_t length = plan->from.byte_count;
  return length <= ALL_MAX || length / ALL_PER_NEW_BYTE <= plan->new_bytes;
}

/// If not all of A is searched, only the parts that B lacks are, so that a small change of a large version costs little; new bytes
/// may still refer to their surroundings.
static pks_status choose_spans(builder *builder, pks_error *error) {
  const pks__delta_plan *plan = &builder->plan;
  pks__old_span all = {.begin = 0, .end = plan->from.byte_count};
  if (all.end == 0) { return PKS_OK; }
  return takes_all(plan) ? pks__scratch_append(&builder->spans, &all, sizeof all, error)
                         : pks__delta_plan_list_gone(plan, &builder->spans, error);
}

static pks_status write_groups(builder *builder, pks_error *error) {
  if (group_count(builder) == 0) { return PKS_OK; }
  const pks__delta_progress progress = {.context = builder, .report = report};
  pks_status status = choose_spans(builder, error);
  if (status) { return status; }
  builder->bytes_before = 0;
  builder->bytes_total = pks__old_spans_length(&builder->spans) + builder->plan.new_bytes;
  // An exact index keeps its bytes of A in a temporary file.
  enum { EXACT_MAX = 1024 * 1024 * 1024 };
  bool is_exact = builder->effort.fits && takes_all(&builder->plan) && builder->plan.from.byte_count <= EXACT_MAX;
  status = pks__delta_index_make(
    &builder->index, &builder->plan.from, &builder->spans, builder->pool, builder->home, &progress, is_exact, error
  );
  builder->bytes_before = builder->bytes_total - builder->plan.new_bytes;
  if (!status) { status = encode_groups(builder, error); }
  bool is_copied = builder->holds && builder->header.prefix_max == 0;
  if (!status && is_copied && group_count(builder) > 1) { status = encode_again(builder, error); }
  return status;
}

// MARK: - Header

static void begin_header(builder *builder, const pks__version *from, const pks__version *to) {
  pks__delta_header *header = &builder->header;
  *header = (pks__delta_header){
    .chunk_average = builder->plan.to.info.chunk_average,
    .part_count = part_count(builder),
    .from_number = from->number,
    .to_number = to->number,
    .from_catalog = from->catalog,
    .to_catalog = to->catalog,
    .committed_at_ns = to->committed_at_ns,
    .file_count = builder->plan.to.info.file_count,
    .link_count = builder->plan.to.info.link_count,
    .folder_count = builder->plan.to.info.folder_count,
    .logical_bytes = builder->plan.to.info.logical_bytes,
    .new_bytes = builder->plan.new_bytes,
    .attribute_byte_count = (uint32_t)builder->attributes.length,
    .attributes = builder->attributes.bytes,
  };
  count_groups(builder);
}

/// Writes the bytes of the header, and describes the delta.
static pks_status write_header_bytes(
  const builder *builder, const pks__scratch *bytes, uint64_t length, pks_delta_info *out, pks_error *error
) {
  pks_status status = write_bytes(builder, 0, bytes->bytes, (size_t)bytes->length, error);
  if (status) { return status; }
  pks__delta_file file = {.header = builder->header, .attributes = builder->to_attributes, .length = length};
  builder->store->sha256(bytes->bytes, (size_t)bytes->length, file.digest.bytes);
  pks__delta_file_tell(&file, out);
  return PKS_OK;
}

static pks_status write_header(builder *builder, pks_delta_info *out, pks_error *error) {
  pks__scratch bytes = {0};
  const pks__delta_block *blocks = PKS__SCRATCH_AT(&builder->blocks, const pks__delta_block, 0);
  pks_status status = pks__delta_put_header(&builder->header, blocks, &bytes, error);
  if (!status) { status = write_header_bytes(builder, &bytes, builder->offset, out, error); }
  pks__scratch_free(&bytes);
  return status;
}

// MARK: - The short form

/// Appends the description, encoded in one part, and the groups, which are all kept in memory.
static pks_status put_blocks(builder *builder, pks__scratch *rows, pks__scratch *stored, pks_error *error) {
  pks_status status = PKS_OK;
  if (builder->plan.description.length > 0) {
    pks__delta_block block;
    pks__encoder *encoder = pks__encoder_create(builder->effort.level);
    status = pks__scratch_reserve(stored, pks__delta_part_capacity(builder->plan.description.length), error);
    if (!status && !encoder) { status = pks__fail_memory(error); }
    if (!status) { status = encode_part(builder, encoder, 0, stored->bytes, &block, error); }
    if (!status) { stored->length = pks__get32(block.stored_length); }
    if (!status) { status = pks__scratch_append(rows, &block, sizeof block, error); }
    pks__encoder_destroy(encoder);
  }
  if (!status) { status = pks__scratch_append(stored, builder->held.bytes, builder->held.length, error); }
  return status ? status : pks__scratch_append(rows, builder->held_rows.bytes, builder->held_rows.length, error);
}

/// Writes the delta in the short form, unless it is too long for that: then nothing is written and `*is_written` is false.
static pks_status write_short(builder *builder, bool *is_written, pks_delta_info *out, pks_error *error) {
  *is_written = false;
  if (builder->plan.description.length > PKS__DELTA_PART || builder->held.length > PKS__DELTA_SHORT_MAX) {
    return PKS_OK;
  }
  pks__scratch rows = {0}, stored = {0}, bytes = {0};
  pks_status status = put_blocks(builder, &rows, &stored, error);
  if (!status) {
    const pks__delta_block *blocks = PKS__SCRATCH_AT(&rows, const pks__delta_block, 0);
    status = pks__delta_put_short(&builder->header, blocks, stored.bytes, stored.length, &bytes, is_written, error);
  }
  if (!status && *is_written) { status = write_header_bytes(builder, &bytes, bytes.length, out, error); }
  pks__scratch_free(&rows);
  pks__scratch_free(&stored);
  pks__scratch_free(&bytes);
  return status;
}

// MARK: - Building

static const pks__version *find_version(const pks__pack_state *pack, uint64_t number, pks_error *error) {
  uint32_t index = pks__pack_find_version(pack, number);
  if (index != UINT32_MAX) { return &pack->versions[index]; }
  (void)pks__fail_about(
    error, PKS_NOT_FOUND, PKS_DETAIL_NO_VERSION, PKS_SUBJECT_PACK, pack->name, "this version is not kept"
  );
  return NULL;
}

static pks_status open_builder(builder *builder, pks_error *error) {
  bool high = builder->effort.level >= LEVEL_HIGH;
  uint32_t most = high ? THREADS_MAX_HIGH : THREADS_MAX;
  builder->pool = pks__pool_create(builder->store->thread_count < most ? builder->store->thread_count : most);
  if (!builder->pool) { return pks__fail_memory(error); }
  if (!builder->store->may_write) { return PKS_OK; }
  pks_status status = pks__staging_open(&builder->staging, builder->store, error);
  if (!status) { builder->home = &builder->staging.scratch; }
  return status;
}

static pks_status build(
  builder *builder, pks_snapshot *snapshot, const pks__version *from, const pks__version *to, pks_delta_info *out,
  pks_error *error
) {
  pks_status status = open_builder(builder, error);
  pks__scratch_init(&builder->blocks, builder->home);
  pks__scratch_init(&builder->spans, builder->home);
  pks__scratch_init(&builder->held, builder->home);
  pks__scratch_init(&builder->held_rows, builder->home);
  if (!status) { status = pks__delta_plan_open(&builder->plan, snapshot, to, builder->home, error); }
  if (!status) { status = pks__delta_plan_compare(&builder->plan, from, error); }
  if (!status) { status = pks__delta_plan_group(&builder->plan, PKS__DELTA_GROUP, error); }
  if (!status && builder->plan.description.length > PKS__DELTA_DESCRIPTION_MAX) {
    const char *text = "the versions differ by more than one delta can contain";
    status =
      pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_PACK, builder->request->pack, text);
  }
  if (!status) {
    status = pks__attributes_read(pks__snapshot_pages(snapshot), &to->attributes, &builder->attributes, error);
  }
  if (status) { return status; }
  builder->to_attributes = to->attributes;
  begin_header(builder, from, to);
  memcpy(builder->header.pack, builder->request->pack, strlen(builder->request->pack));
  builder->holds = true;
  bool is_written = false;
  status = write_groups(builder, error);
  if (!status && builder->holds) { status = write_short(builder, &is_written, out, error); }
  if (status || is_written) { return status; }
  if (builder->holds) { status = write_held(builder, error); }
  return status ? status : write_header(builder, out, error);
}

pks_status pks_delta_build(
  pks_delta_info *out, const pks_snapshot *snapshot, const pks_delta_request *request, pks_error *error
) {
  pks_status status = pks__store_check_process(snapshot->store, error);
  if (status) { return status; }
  if (request->level < 0 || request->level > PKS_DELTA_LEVEL_MAX || !snapshot->store->sha256) {
    const char *text = snapshot->store->sha256 ? "the level is not in 1 to 22" : "deltas need 'pks_options.sha256'";
    return pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, request->pack, text);
  }
  if (!request->pack || !request->write) {
    const char *text = request->pack ? "no writer for the delta; set 'write'" : "no pack given";
    return pks__fail_about(error, PKS_INVALID_ARGUMENT, PKS_DETAIL_NONE, PKS_SUBJECT_PACK, request->pack, text);
  }
  const pks__pack_state *pack = pks__generation_find_state(&snapshot->generation, request->pack, NULL);
  if (!pack) {
    return pks__fail_about(
      error, PKS_NOT_FOUND, PKS_DETAIL_NO_PACK, PKS_SUBJECT_PACK, request->pack, "not in the store"
    );
  }
  const pks__version *from = find_version(pack, request->from, error);
  const pks__version *to = from ? find_version(pack, request->to, error) : NULL;
  if (!to) { return PKS_NOT_FOUND; }
  builder builder = {.request = request, .store = snapshot->store};
  builder.effort = pks__delta_effort_make(request->level ? request->level : PKS_DELTA_LEVEL);
  // Snapshots are immutable for their users, except for lazily opened parts.
  status = build(&builder, pks__snapshot_mutable(snapshot), from, to, out, error);
  pks__delta_plan_close(&builder.plan);
  pks__delta_index_close(&builder.index);
  pks__scratch_free(&builder.blocks);
  pks__scratch_free(&builder.spans);
  pks__scratch_free(&builder.held);
  pks__scratch_free(&builder.held_rows);
  pks__scratch_free(&builder.attributes);
  pks__pool_destroy(builder.pool);
  pks__staging_close(&builder.staging);
  return status;
}
