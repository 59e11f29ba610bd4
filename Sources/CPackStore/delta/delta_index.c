#include "delta/delta_index.h"

#include <string.h>

#include "base/memory.h"
#include "codec/checksum.h"
#include "codec/chunker_gear.h"

enum {
  WINDOW = PKS__GEAR_WINDOW,
  SLOT_BITS_MIN = 10,
  SLOT_BITS_MAX = 24,    // 128 MiB
  SPACING_BITS_MIN = 5,  // an anchor in 32 bytes
  SPACING_BITS_EXACT = 3,
  POSITION_BITS = 44,
  PART = 1024 * 1024,     // bytes of A that a task looks at
  PLACES = 2,             // slots in which an anchor may be
  PLACES_EXACT = 8,       // in an exact index, a power of two
  EQUAL_MAX = 4,          // of them with equal anchors
  MATCH_MAX = 16 * 1024,  // bytes that are compared after a place, and
  BACK_MAX = 512,         // before it
};

// MARK: - Anchors

/// Calls `visit` for each anchor: where it ends in `bytes`, and the hash of the bytes in its window. In runs of one
/// content there is one.
static void visit_anchors(
  const uint8_t *bytes, uint32_t length, uint32_t threshold, void (*visit)(void *, uint32_t end, uint64_t hash),
  void *context
) {
  uint32_t gear = 0;
  uint64_t last = 0;
  for (uint32_t i = 0; i < length; i++) {
    gear = (gear << 1) + pks__gear[bytes[i]];
    if (gear >= threshold || i + 1 < WINDOW) { continue; }
    uint64_t hash = pks__checksum(bytes + i + 1 - WINDOW, WINDOW);
    if (hash != last) { visit(context, i + 1, hash); }
    last = hash;
  }
}

// MARK: - Slots

static uint64_t check_of(uint64_t hash) { return (hash & 0xfffff) << POSITION_BITS; }

static uint64_t slot_of(const pks__delta_index *index, uint64_t hash) { return hash >> (64 - index->slot_bits); }

/// The first of equal anchors stays, or the first few; when the slots are taken, the newcomer goes without.
static void insert(pks__delta_index *index, uint64_t hash, uint64_t position) {
  uint64_t mask = ~(((uint64_t)1 << POSITION_BITS) - 1);
  uint32_t equal = 0, equal_max = index->is_exact ? EQUAL_MAX : 1;
  for (uint64_t i = 0; i < (index->is_exact ? PLACES_EXACT : PLACES); i++) {
    uint64_t *slot = PKS__SCRATCH_AT(&index->slots, uint64_t, slot_of(index, hash) ^ i);
    if (*slot != 0 && (*slot & mask) == check_of(hash) && ++equal == equal_max) { return; }
    if (*slot != 0) { continue; }
    *slot = check_of(hash) | (position + 1);
    return;
  }
}

static bool look_up(const pks__delta_index *index, uint64_t hash, uint64_t *position) {
  uint64_t mask = ~(((uint64_t)1 << POSITION_BITS) - 1);
  for (uint64_t i = 0; i < (index->is_exact ? PLACES_EXACT : PLACES); i++) {
    uint64_t slot = *PKS__SCRATCH_AT(&index->slots, const uint64_t, slot_of(index, hash) ^ i);
    if (slot == 0 || (slot & mask) != check_of(hash)) { continue; }
    *position = (slot & ~mask) - 1;
    return true;
  }
  return false;
}

// MARK: - Finding

typedef struct search {
  const pks__delta_index *index, *without;
  pks__delta_hit *out;
  uint32_t count, capacity;
} search;

static void search_anchor(void *context, uint32_t end, uint64_t hash) {
  search *search = context;
  uint64_t position, other;
  if (search->count == search->capacity || !look_up(search->index, hash, &position)) { return; }
  if (search->without && look_up(search->without, hash, &other)) { return; }
  search->out[search->count++] = (pks__delta_hit){.end = end, .position = position};
}

uint32_t pks__delta_index_find(
  const pks__delta_index *index, const pks__delta_index *without, const uint8_t *bytes, uint32_t length,
  pks__delta_hit *out, uint32_t capacity
) {
  search search = {.index = index, .without = without, .out = out, .capacity = capacity};
  // An exact index has anchors that others lack.
  uint32_t threshold = (uint32_t)pks__min64(index->threshold, UINT32_MAX >> SPACING_BITS_MIN);
  visit_anchors(bytes, length, threshold, search_anchor, &search);
  return search.count;
}

// MARK: - Matching

/// The state of matching bytes with A.
typedef struct matching {
  const pks__delta_index *index;
  const uint8_t *bytes, *old;
  uint64_t length, old_length;
  pks__delta_hit *out;
  uint32_t count, capacity;
  uint64_t matched;  ///< bytes up to here equal the counterparts of the last hit
} matching;

/// Returns the number of bytes from `end` on that equal those of A from `position` on.
static uint64_t match_forward(const matching *matching, uint64_t end, uint64_t position) {
  uint64_t most = pks__min64(matching->length - end, matching->old_length - position), count = 0;
  while (count < pks__min64(most, MATCH_MAX) && matching->bytes[end + count] == matching->old[position + count]) {
    count++;
  }
  return count;
}

static uint64_t match_back(const matching *matching, uint64_t end, uint64_t position) {
  uint64_t most = pks__min64(pks__min64(end, position), BACK_MAX), count = 0;
  while (count < most && matching->bytes[end - count - 1] == matching->old[position - count - 1]) { count++; }
  return count;
}

static void match_anchor(void *context, uint32_t end, uint64_t hash) {
  matching *matching = context;
  const pks__delta_index *index = matching->index;
  uint64_t mask = ~(((uint64_t)1 << POSITION_BITS) - 1), longest = 0, best = 0, ahead = 0;
  if (end <= matching->matched || matching->count == matching->capacity) { return; }
  const pks__delta_hit *last = matching->count > 0 ? &matching->out[matching->count - 1] : NULL;
  uint64_t next = last ? last->position + (end - last->end) : 0;
  // Continuing an alignment costs nothing to encode.
  bool goes_on = last && next <= matching->old_length
    && memcmp(matching->bytes + end - WINDOW, matching->old + next - WINDOW, WINDOW) == 0;
  if (goes_on) {
    matching->out[matching->count++] = (pks__delta_hit){.end = end, .position = next};
    matching->matched = end + match_forward(matching, end, next);
    return;
  }
  for (uint64_t i = 0; i < PLACES_EXACT; i++) {
    uint64_t slot = *PKS__SCRATCH_AT(&index->slots, const uint64_t, slot_of(index, hash) ^ i);
    if (slot == 0 || (slot & mask) != check_of(hash)) { continue; }
    uint64_t position = (slot & ~mask) - 1, forward = match_forward(matching, end, position);
    uint64_t both = forward + match_back(matching, end, position);
    if (both < WINDOW || both <= longest) { continue; }
    longest = both;
    best = position;
    ahead = forward;
  }
  if (longest == 0) { return; }
  matching->out[matching->count++] = (pks__delta_hit){.end = end, .position = best};
  matching->matched = end + ahead;
}

uint32_t pks__delta_index_match(
  const pks__delta_index *index, const uint8_t *bytes, uint32_t length, pks__delta_hit *out, uint32_t capacity
) {
  matching matching = {
    .index = index,
    .bytes = bytes,
    .old = index->bytes.bytes,
    .length = length,
    .old_length = index->bytes.length,
    .out = out,
    .capacity = capacity,
  };
  PKS_ASSERT(index->is_exact);
  visit_anchors(bytes, length, index->threshold, match_anchor, &matching);
  return matching.count;
}

// MARK: - Making

typedef struct anchor {
  uint64_t hash;
  uint32_t end;
} anchor;

/// A part of A on its way. `task` comes first: the pool hands it back.
typedef struct part {
  pks__task task;
  pks__version_reader reader;
  uint32_t threshold;
  uint64_t begin;  ///< beginning of the bytes that are read, including the window before the first anchor
  uint32_t length;
  uint32_t new_length;  ///< without that window
  uint8_t *bytes;
  anchor *anchors;
  uint32_t anchor_count, anchor_capacity;
  pks_status status;
  pks_error error;
} part;

static void note_anchor(void *context, uint32_t end, uint64_t hash) {
  part *part = context;
  if (part->anchor_count == part->anchor_capacity) { return; }
  part->anchors[part->anchor_count++] = (anchor){.hash = hash, .end = end};
}

static void run_part(pks__task *task, uint32_t worker) {
  (void)worker;
  part *part = (struct part *)(void *)task;
  part->anchor_count = 0;
  part->status = pks__version_read(&part->reader, part->begin, part->bytes, part->length, &part->error);
  if (!part->status) { visit_anchors(part->bytes, part->length, part->threshold, note_anchor, part); }
}

typedef struct ring {
  part *parts;
  uint32_t size, oldest, count;
  const pks__scratch *spans;
  uint64_t next_span;
  uint64_t next;  ///< position in that span; below its beginning: there
  uint64_t done;  ///< bytes that were looked at
} ring;

static void free_ring(ring *ring, pks__pool *pool) {
  for (uint32_t i = 0; i < ring->count; i++) {
    pks__pool_finish(pool, &ring->parts[(ring->oldest + i) % ring->size].task);
  }
  for (uint32_t i = 0; ring->parts && i < ring->size; i++) {
    pks__version_reader_close(&ring->parts[i].reader);
    pks__free(ring->parts[i].bytes);
    pks__free(ring->parts[i].anchors);
  }
  pks__free(ring->parts);
}

static pks_status make_ring(
  ring *ring, const pks__delta_index *index, const pks__version_list *from, uint32_t spacing_bits, pks__pool *pool,
  pks_error *error
) {
  ring->size = pks__pool_thread_count(pool) + 1;
  ring->parts = pks__allocate_zeroed(ring->size, sizeof *ring->parts);
  if (!ring->parts) { return pks__fail_memory(error); }
  for (uint32_t i = 0; i < ring->size; i++) {
    part *part = &ring->parts[i];
    part->task.run = run_part;
    part->reader.list = from;
    part->threshold = index->threshold;
    // Twice the expected number: data with more is repetitive.
    part->anchor_capacity = (uint32_t)PART * 2 >> spacing_bits;
    part->bytes = pks__allocate(PART + WINDOW);
    part->anchors = pks__allocate(part->anchor_capacity * sizeof *part->anchors);
    if (!part->bytes || !part->anchors) { return pks__fail_memory(error); }
  }
  return PKS_OK;
}

/// Submits the next part of the spans to a task; returns false at the end.
static bool submit_next(ring *ring, pks__pool *pool) {
  if (ring->next_span == PKS__SCRATCH_COUNT(ring->spans, pks__old_span)) { return false; }
  const pks__old_span *span = PKS__SCRATCH_AT(ring->spans, const pks__old_span, ring->next_span);
  uint64_t begin = pks__max64(ring->next, span->begin), end = pks__min64(begin + PART, span->end);
  part *part = &ring->parts[(ring->oldest + ring->count++) % ring->size];
  part->begin = begin >= WINDOW ? begin - (WINDOW - 1) : 0;
  part->length = (uint32_t)(end - part->begin);
  part->new_length = (uint32_t)(end - begin);
  ring->next = end;
  if (end == span->end) { ring->next_span++; }
  pks__pool_submit(pool, &part->task);
  return true;
}

static void fill_ring(ring *ring, pks__pool *pool) {
  while (ring->count < ring->size && submit_next(ring, pool)) {}
}

static pks_status insert_all(
  pks__delta_index *index, ring *ring, pks__pool *pool, const pks__delta_progress *progress, pks_error *error
) {
  pks_status status = PKS_OK;
  fill_ring(ring, pool);
  while (!status && ring->count > 0) {
    part *part = &ring->parts[ring->oldest];
    pks__pool_finish(pool, &part->task);
    ring->oldest = (ring->oldest + 1) % ring->size;
    ring->count--;
    status = part->status;
    if (status && error) { *error = part->error; }
    for (uint32_t i = 0; !status && i < part->anchor_count; i++) {
      insert(index, part->anchors[i].hash, part->begin + part->anchors[i].end);
    }
    if (!status && index->is_exact) {
      const uint8_t *new_bytes = part->bytes + (part->length - part->new_length);
      status = pks__scratch_append(&index->bytes, new_bytes, part->new_length, error);
    }
    ring->done += part->new_length;
    if (!status) { status = progress->report(progress->context, ring->done, error); }
    if (!status) { fill_ring(ring, pool); }
  }
  return status;
}

uint64_t pks__old_spans_length(const pks__scratch *spans) {
  uint64_t length = 0;
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(spans, pks__old_span); i++) {
    const pks__old_span *span = PKS__SCRATCH_AT(spans, const pks__old_span, i);
    length += span->end - span->begin;
  }
  return length;
}

pks_status pks__delta_index_make(
  pks__delta_index *out, const pks__version_list *from, const pks__scratch *spans, pks__pool *pool,
  pks__scratch_folder *home, const pks__delta_progress *progress, bool is_exact, pks_error *error
) {
  uint32_t spacing_bits = is_exact ? SPACING_BITS_EXACT : SPACING_BITS_MIN;
  uint64_t byte_count = pks__old_spans_length(spans);
  *out = (pks__delta_index){.slot_bits = SLOT_BITS_MIN, .is_exact = is_exact};
  pks__scratch_init(&out->slots, home);
  pks__scratch_init(&out->bytes, home);
  if (from->byte_count >> POSITION_BITS) {
    return pks__fail_about(
      error, PKS_INVALID_ARGUMENT, PKS_DETAIL_LIMIT, PKS_SUBJECT_NONE, NULL, "the version is too large for a delta"
    );
  }
  // Two slots for an anchor: few are left out.
  while (byte_count >> spacing_bits > (uint64_t)1 << (SLOT_BITS_MAX - 1)) { spacing_bits++; }
  while ((uint64_t)1 << (out->slot_bits - 1) < byte_count >> spacing_bits) { out->slot_bits++; }
  out->threshold = UINT32_MAX >> spacing_bits;
  pks_status status = pks__scratch_append(&out->slots, NULL, sizeof(uint64_t) << out->slot_bits, error);
  if (!status && is_exact) { status = pks__scratch_expect(&out->bytes, byte_count, error); }
  ring ring = {.spans = spans};
  if (!status) { status = make_ring(&ring, out, from, spacing_bits, pool, error); }
  if (!status) { status = insert_all(out, &ring, pool, progress, error); }
  free_ring(&ring, pool);
  return status;
}

static void insert_anchor(void *context, uint32_t end, uint64_t hash) { insert(context, hash, end); }

pks_status pks__delta_index_bytes(pks__delta_index *out, const uint8_t *bytes, uint32_t length, pks_error *error) {
  out->slot_bits = SLOT_BITS_MIN;
  out->threshold = UINT32_MAX >> SPACING_BITS_MIN;
  while ((uint32_t)1 << (out->slot_bits - 1) < length >> SPACING_BITS_MIN) { out->slot_bits++; }
  out->slots.length = 0;
  pks_status status = pks__scratch_append(&out->slots, NULL, sizeof(uint64_t) << out->slot_bits, error);
  if (!status) { visit_anchors(bytes, length, out->threshold, insert_anchor, out); }
  return status;
}

void pks__delta_index_close(pks__delta_index *index) {
  pks__scratch_free(&index->slots);
  pks__scratch_free(&index->bytes);
}
