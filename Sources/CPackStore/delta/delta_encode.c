#include "delta/delta_encode.h"

#include "base/memory.h"
#include "delta/delta_copy_search.h"
#include "delta/delta_covers.h"

enum {
  LEVEL_QUICK = 3,
  LEVEL_HIGHEST = 20,  // from here on there is time for all
  PREFIX_DEFAULT = 1024 * 1024,
  WORTH_NUMERATOR = 63,  // numerator of the threshold: if the fast encoder saves less, the group stays raw
  WORTH_DENOMINATOR = 64,
  FAR_MAX = 32,
  FAR_MAX_HIGHEST = 1024,
  FITTED_WORTH = 14,  // of 16 parts: so much shorter with a fitted prefix, or the slow encoder does better with another
  SAID_PIECE = 5,     // bytes for coding the place of a piece
  RIVAL_MAX = 2,      // a prefix with which the fast encoder makes so many times as much is not worth the slow one
  GUESSES_MAX = 1024,              // stretches of a group whose beginnings are looked at
  LITERALS_MAX = 8,                // a form whose literals are so many times longer than another form is not tried
  LITERALS_CODED_MAX = 16 * 1024,  // more of them are not tried in the code of the copies
  COVERS_WORTH = 15,               // of 16 parts: so much shorter with covers, or the slow encoder does better without
};

pks__delta_effort pks__delta_effort_make(int level) {
  bool highest = level >= LEVEL_HIGHEST;
  return (pks__delta_effort){
    .level = level,
    .prefix_max = highest ? PKS__DELTA_PREFIX_MAX : PREFIX_DEFAULT,
    .far_max = highest ? FAR_MAX_HIGHEST : FAR_MAX,
    .tries_both = highest,
    .fits = level >= PKS_DELTA_LEVEL,
  };
}

/// A way to encode a group.
typedef struct attempt {
  uint8_t *prefix;
  uint32_t prefix_length;
  pks__scratch pieces;    ///< pks__delta_prefix_part
  size_t quick_length;    ///< size of the group with the fast encoder; SIZE_MAX: not worth a try
  size_t covered_length;  ///< size with useful covers, if smaller
  size_t said;            ///< bytes that it takes to say the pieces
} attempt;

struct pks__group_encoder {
  const pks__delta_plan *plan;
  pks__delta_effort effort;
  const pks__delta_index *index;
  pks__encoder *quick, *slow;
  pks__version_reader from, to;
  pks__prefix_chooser chooser;
  attempt attempts[PKS__PIECE_CHOICES];
  pks__delta_index local;   ///< index of a prefix
  pks__scratch covers;      ///< pks__delta_cover
  pks__scratch copies;      ///< pks__delta_copy
  const attempt *covered;   ///< the attempt that they are of
  pks__scratch alignments;  ///< pks__alignment, of a group with a prefix
  uint8_t *raw, *difference;
  uint8_t *encoded, *other;  ///< of `encoded_capacity`
  size_t encoded_capacity;
  uint8_t *lists, *lists_encoded;
  uint8_t *rival;  ///< a stored form that may be shorter
};

// MARK: - Making

static bool allocate(pks__group_encoder *encoder, uint32_t group_max) {
  encoder->encoded_capacity = pks__encode_capacity(group_max);
  encoder->quick = pks__encoder_create(LEVEL_QUICK);
  encoder->slow = pks__encoder_create(encoder->effort.level);
  encoder->raw = pks__allocate(group_max);
  encoder->difference = pks__allocate(group_max);
  encoder->encoded = pks__allocate(encoder->encoded_capacity);
  encoder->other = pks__allocate(encoder->encoded_capacity);
  encoder->lists = pks__allocate(PKS__DELTA_LISTS_MAX);
  encoder->lists_encoded = pks__allocate(pks__encode_capacity(PKS__DELTA_LISTS_MAX));
  encoder->rival = pks__allocate(pks__group_stored_max(group_max));
  bool has_prefixes = encoder->rival != NULL;
  for (size_t i = 0; i < PKS__PIECE_CHOICES; i++) {
    encoder->attempts[i].prefix = pks__allocate(encoder->effort.prefix_max);
    has_prefixes = has_prefixes && encoder->attempts[i].prefix;
  }
  return encoder->quick && encoder->slow && encoder->raw && encoder->difference && encoder->encoded && encoder->other
    && encoder->lists && encoder->lists_encoded && has_prefixes;
}

pks__group_encoder *pks__group_encoder_create(
  const pks__delta_plan *plan, const pks__delta_index *index, const pks__delta_effort *effort, uint32_t group_max
) {
  pks__group_encoder *encoder = pks__allocate_zeroed(1, sizeof *encoder);
  if (!encoder) { return NULL; }
  encoder->plan = plan;
  encoder->index = index;
  encoder->effort = *effort;
  encoder->from.list = &plan->from;
  encoder->to.list = &plan->to;
  if (allocate(encoder, group_max)) { return encoder; }
  pks__group_encoder_destroy(encoder);
  return NULL;
}

void pks__group_encoder_destroy(pks__group_encoder *encoder) {
  if (!encoder) { return; }
  pks__version_reader_close(&encoder->from);
  pks__version_reader_close(&encoder->to);
  pks__encoder_destroy(encoder->quick);
  pks__encoder_destroy(encoder->slow);
  pks__prefix_chooser_free(&encoder->chooser);
  pks__delta_index_close(&encoder->local);
  for (size_t i = 0; i < PKS__PIECE_CHOICES; i++) {
    pks__free(encoder->attempts[i].prefix);
    pks__scratch_free(&encoder->attempts[i].pieces);
  }
  pks__scratch_free(&encoder->covers);
  pks__scratch_free(&encoder->copies);
  pks__scratch_free(&encoder->alignments);
  uint8_t *all[] = {encoder->raw,   encoder->difference,    encoder->encoded, encoder->other,
                    encoder->lists, encoder->lists_encoded, encoder->rival};
  for (size_t i = 0; i < PKS_COUNT_OF(all); i++) { pks__free(all[i]); }
  pks__free(encoder);
}

// MARK: - Reading

/// New chunks that are neighbours in B are read together.
static pks_status read_group(pks__group_encoder *encoder, const pks__planned_group *group, pks_error *error) {
  const pks__version_list *to = &encoder->plan->to;
  const uint64_t *rows = PKS__SCRATCH_AT(&encoder->plan->new_rows, const uint64_t, group->first_chunk);
  uint32_t offset = 0;
  pks_status status = PKS_OK;
  for (uint32_t i = 0, next; !status && i < group->chunk_count; i = next) {
    for (next = i + 1; next < group->chunk_count && rows[next] == rows[next - 1] + 1; next++) {}
    uint64_t begin = pks__version_list_position(to, rows[i]);
    uint32_t length = (uint32_t)(pks__version_list_position(to, rows[next - 1] + 1) - begin);
    status = pks__version_read(&encoder->to, begin, encoder->raw + offset, length, error);
    offset += length;
  }
  return status;
}

static pks_status read_prefix(pks__group_encoder *encoder, attempt *attempt, pks_error *error) {
  pks_status status = PKS_OK;
  attempt->prefix_length = 0;
  for (uint64_t i = 0; !status && i < PKS__SCRATCH_COUNT(&attempt->pieces, pks__delta_prefix_part); i++) {
    const pks__delta_prefix_part *piece = PKS__SCRATCH_AT(&attempt->pieces, const pks__delta_prefix_part, i);
    uint8_t *to = attempt->prefix + attempt->prefix_length;
    if (encoder->index->is_exact) {
      memcpy(to, encoder->index->bytes.bytes + piece->position, piece->length);
    } else {
      status = pks__version_read(&encoder->from, piece->position, to, piece->length, error);
    }
    attempt->prefix_length += piece->length;
  }
  return status;
}

// MARK: - Trying

/// Returns the encoded length of bytes after a prefix; their own length if nothing is saved.
static pks_status measure(
  pks__group_encoder *encoder, pks__encoder *with, const attempt *attempt, const uint8_t *bytes, uint32_t length,
  uint8_t *out, size_t *encoded_length, pks_error *error
) {
  *encoded_length =
    pks__encode_after(with, attempt->prefix, attempt->prefix_length, bytes, length, out, encoder->encoded_capacity);
  if (*encoded_length == SIZE_MAX) { return pks__fail_memory(error); }
  if (*encoded_length == 0) { *encoded_length = length; }
  return PKS_OK;
}

static bool equal_pieces(const pks__scratch *a, const pks__scratch *b) {
  return a->length == b->length && (a->length == 0 || memcmp(a->bytes, b->bytes, (size_t)a->length) == 0);
}

/// Reads the pieces that the chooser selected.
static pks_status take_pieces(pks__group_encoder *encoder, attempt *attempt, pks_error *error) {
  const pks__scratch *pieces = &encoder->chooser.pieces;
  attempt->pieces.length = 0;
  pks_status status = pks__scratch_append(&attempt->pieces, pieces->bytes, pieces->length, error);
  return status ? status : read_prefix(encoder, attempt, error);
}

/// Finds similar data for the group: first in the data it replaces, then elsewhere.
static pks_status search(pks__group_encoder *encoder, const pks__planned_group *group, pks_error *error) {
  pks__prefix_chooser *chooser = &encoder->chooser;
  const pks__delta_effort *effort = &encoder->effort;
  attempt *replaced = &encoder->attempts[0];
  pks_status status = pks__prefix_chooser_begin(chooser, encoder->plan, group, effort->prefix_max, error);
  if (!status) { status = take_pieces(encoder, replaced, error); }
  if (!status) { status = pks__delta_index_bytes(&encoder->local, replaced->prefix, replaced->prefix_length, error); }
  if (!status) {
    status = pks__prefix_chooser_search(
      chooser, encoder->index, &encoder->local, encoder->raw, group->length, effort->far_max, error
    );
  }
  if (status || !encoder->index->is_exact) { return status; }
  return pks__prefix_chooser_align(chooser, encoder->index, encoder->raw, group->length, error);
}

/// Whether an attempt at the group before number `index` has the pieces that were chosen.
static bool was_tried(const pks__group_encoder *encoder, int index) {
  for (int i = 0; i < index; i++) {
    const attempt *attempt = &encoder->attempts[i];
    if (attempt->quick_length < SIZE_MAX && equal_pieces(&attempt->pieces, &encoder->chooser.pieces)) { return true; }
  }
  return false;
}

/// Chooses, reads and tries the prefixes.
static pks_status try_prefixes(pks__group_encoder *encoder, const pks__planned_group *group, pks_error *error) {
  int choices = encoder->index->is_exact ? PKS__PIECE_CHOICES : PKS__PIECES_FITTED;
  pks_status status = search(encoder, group, error);
  for (int i = 0; i < PKS__PIECE_CHOICES; i++) { encoder->attempts[i].quick_length = SIZE_MAX; }
  for (int i = 0; !status && i < choices; i++) {
    attempt *attempt = &encoder->attempts[i];
    status = pks__prefix_chooser_choose(&encoder->chooser, (pks__prefix_choice)i, encoder->effort.prefix_max, error);
    if (!status && was_tried(encoder, i)) { continue; }
    if (!status) { status = take_pieces(encoder, attempt, error); }
    if (status) { break; }
    attempt->said = SAID_PIECE * (size_t)PKS__SCRATCH_COUNT(&attempt->pieces, pks__delta_prefix_part);
    status = measure(
      encoder, encoder->quick, attempt, encoder->raw, group->length, encoder->encoded, &attempt->quick_length, error
    );
    attempt->covered_length = attempt->quick_length;
  }
  return status;
}

/// The attempt among [begin, end) with the shortest outcome; NULL when none was worth a try.
static attempt *find_best(pks__group_encoder *encoder, int begin, int end) {
  attempt *best = NULL;
  for (int i = begin; i < end; i++) {
    attempt *attempt = &encoder->attempts[i];
    if (attempt->quick_length == SIZE_MAX) { continue; }
    if (!best || attempt->covered_length + attempt->said < best->covered_length + best->said) { best = attempt; }
  }
  return best;
}

/// Returns the offset in an attempt's prefix of the window that begins at `position` of A; false if it is not complete there.
static bool find_in_prefix(const attempt *attempt, uint64_t position, uint32_t *offset) {
  uint64_t count = PKS__SCRATCH_COUNT(&attempt->pieces, pks__delta_prefix_part);
  uint32_t start = 0;
  for (uint64_t i = 0; i < count; i++) {
    const pks__delta_prefix_part *piece = PKS__SCRATCH_AT(&attempt->pieces, const pks__delta_prefix_part, i);
    uint64_t inside = position - piece->position;
    if (position >= piece->position && inside + PKS__GEAR_WINDOW <= piece->length) {
      *offset = start + (uint32_t)inside;
      return true;
    }
    start += piece->length;
  }
  return false;
}

/// Inserts a hit into an ordered list.
static void insert_hit(pks__delta_hit *hits, uint32_t *count, const pks__delta_hit *hit) {
  uint32_t at = *count;
  for (; at > 0 && hits[at - 1].end > hit->end; at--) { hits[at] = hits[at - 1]; }
  hits[at] = *hit;
  ++*count;
}

/// If there are so many changes that no anchor is left, new data may still correspond to the data it replaces: the beginning counts
/// as a hit if half of it is equal. Time is proportional to the ranges, which are few in these cases.
static void add_guesses(
  const pks__group_encoder *encoder, const pks__planned_group *group, const attempt *attempt, uint32_t *hit_count
) {
  const pks__scratch *stretches = &encoder->plan->stretches;
  uint64_t count = pks__min64(PKS__SCRATCH_COUNT(stretches, pks__new_stretch), group->first_stretch + GUESSES_MAX);
  for (uint64_t i = group->first_stretch; i < count && *hit_count < PKS__DELTA_HITS_MAX; i++) {
    const pks__new_stretch *stretch = PKS__SCRATCH_AT(stretches, const pks__new_stretch, i);
    uint64_t begin = pks__max64(stretch->begin, group->position), old = stretch->old_begin + (begin - stretch->begin);
    uint32_t offset, at = (uint32_t)(begin - group->position), equal = 0;
    if (begin >= group->position + group->length) { return; }
    if (stretch->old_begin >= stretch->old_end || group->length - at < PKS__GEAR_WINDOW) { continue; }
    if (!find_in_prefix(attempt, old, &offset)) { continue; }
    for (uint32_t k = 0; k < PKS__GEAR_WINDOW; k++) { equal += encoder->raw[at + k] == attempt->prefix[offset + k]; }
    pks__delta_hit hit = {.end = at + PKS__GEAR_WINDOW, .position = (uint64_t)offset + PKS__GEAR_WINDOW};
    if (equal * 2 >= PKS__GEAR_WINDOW) { insert_hit(encoder->chooser.hits, hit_count, &hit); }
  }
}

/// Finds covers for the group after a prefix.
static pks_status find_covers(
  pks__group_encoder *encoder, const pks__planned_group *group, const attempt *attempt, pks_error *error
) {
  encoder->covers.length = 0;
  pks_status status = pks__delta_index_bytes(&encoder->local, attempt->prefix, attempt->prefix_length, error);
  if (status) { return status; }
  pks__align_search search = {
    .bytes = encoder->raw,
    .length = group->length,
    .old = attempt->prefix,
    .old_length = attempt->prefix_length,
    .hits = encoder->chooser.hits,
  };
  search.hit_count = pks__delta_index_find(
    &encoder->local, NULL, encoder->raw, group->length, encoder->chooser.hits, PKS__DELTA_HITS_MAX
  );
  add_guesses(encoder, group, attempt, &search.hit_count);
  return pks__delta_covers_find(&search, &encoder->alignments, &encoder->covers, error);
}

/// Leaves useful covers in `encoder->covers`, and the group minus the covered old bytes in `difference`.
static pks_status try_covers(
  pks__group_encoder *encoder, const pks__planned_group *group, attempt *attempt, pks_error *error
) {
  size_t shortest = attempt->quick_length;
  encoder->covered = attempt;
  pks_status status = find_covers(encoder, group, attempt, error);
  uint32_t count = (uint32_t)PKS__SCRATCH_COUNT(&encoder->covers, pks__delta_cover);
  if (status || count == 0) { return status; }
  const pks__delta_cover *covers = PKS__SCRATCH_AT(&encoder->covers, const pks__delta_cover, 0);
  memcpy(encoder->difference, encoder->raw, group->length);
  for (uint32_t i = 0; i < count; i++) {
    uint8_t *to = encoder->difference + covers[i].begin;
    const uint8_t *less = attempt->prefix + covers[i].prefix;
    for (uint32_t k = 0; k < covers[i].length; k++) { to[k] = (uint8_t)(to[k] - less[k]); }
  }
  size_t length;
  status =
    measure(encoder, encoder->quick, attempt, encoder->difference, group->length, encoder->encoded, &length, error);
  size_t said = 4 * (size_t)count;
  bool is_better = length + said < shortest;
  bool is_much_better = (length + said) * 16 < shortest * COVERS_WORTH;
  if (status) { return status; }
  if (encoder->effort.tries_both ? is_better : is_much_better) {
    attempt->covered_length = length + said;
  } else {
    encoder->covers.length = 0;
  }
  return PKS_OK;
}

/// Chooses between a fitted prefix and the best other one, which may have covers, where they are near to each other.
static pks_status choose_attempt(
  pks__group_encoder *encoder, const pks__planned_group *group, attempt **best, pks_error *error
) {
  attempt *fitted = &encoder->attempts[PKS__PIECES_FITTED], *other = find_best(encoder, 0, PKS__PIECES_FITTED);
  *best = find_best(encoder, 0, PKS__PIECE_CHOICES);
  encoder->covered = NULL;
  if (fitted->quick_length == SIZE_MAX) { return PKS_OK; }
  attempt *rival = *best == fitted ? other : fitted;
  if (rival->quick_length > (*best)->quick_length * RIVAL_MAX) { return PKS_OK; }
  // Covers seldom pay in a fitted prefix: it is only found out at the highest effort, before it is chosen.
  pks_status status = encoder->effort.tries_both ? try_covers(encoder, group, fitted, error) : PKS_OK;
  if (!status) { status = try_covers(encoder, group, other, error); }
  size_t fitted_length = fitted->covered_length + fitted->said, other_length = other->covered_length + other->said;
  bool is_worth_it = encoder->effort.tries_both || fitted_length * 16 < other_length * FITTED_WORTH;
  *best = fitted_length < other_length && is_worth_it ? fitted : other;
  return status;
}

// MARK: - Stored form

/// Puts lists and bytes together, unless that is not shorter than the group: then `*stored_length` is 0. `lists_raw_length` is 0 if
/// they did not fit, which no list of sensible length does.
static void put_together(const pks__delta_group *group, uint32_t length, uint8_t *out, size_t *stored_length) {
  uint8_t begin[PKS__DELTA_GROUP_START_MAX];
  size_t used = pks__delta_put_group_start(begin, group->form, group->lists_raw_length, group->lists_stored_length);
  *stored_length = 0;
  if (group->lists_raw_length == 0 || used + group->lists_stored_length + group->bytes_length >= length) { return; }
  memcpy(out, begin, used);
  memcpy(out + used, group->lists, group->lists_stored_length);
  used += group->lists_stored_length;
  if (group->bytes_length > 0) { memcpy(out + used, group->bytes, group->bytes_length); }
  *stored_length = used + group->bytes_length;
}

/// The group as it is.
static size_t store_raw(const pks__group_encoder *encoder, uint32_t length, uint8_t *out) {
  static const uint8_t no_lists[2] = {0, 0};
  size_t used = pks__delta_put_group_start(out, 0, sizeof no_lists, sizeof no_lists);
  memcpy(out + used, no_lists, sizeof no_lists);
  memcpy(out + used + sizeof no_lists, encoder->raw, length);
  return used + sizeof no_lists + length;
}

static pks_status store_encoded(
  pks__group_encoder *encoder, const attempt *attempt, uint32_t length, size_t encoded_length, uint8_t *out,
  size_t *stored_length, pks_error *error
) {
  size_t raw_lists = pks__delta_put_lists(
    PKS__SCRATCH_AT(&attempt->pieces, const pks__delta_prefix_part, 0),
    (uint32_t)PKS__SCRATCH_COUNT(&attempt->pieces, pks__delta_prefix_part),
    PKS__SCRATCH_AT(&encoder->covers, const pks__delta_cover, 0),
    (uint32_t)PKS__SCRATCH_COUNT(&encoder->covers, pks__delta_cover), encoder->lists, PKS__DELTA_LISTS_MAX
  );
  size_t stored_lists = pks__encode(
    encoder->slow, encoder->lists, raw_lists, encoder->lists_encoded, pks__encode_capacity(PKS__DELTA_LISTS_MAX)
  );
  if (stored_lists == SIZE_MAX) { return pks__fail_memory(error); }
  bool is_encoded = stored_lists > 0;
  pks__delta_group group = {
    .form = (uint8_t)(PKS__DELTA_BYTES_ENCODED | (is_encoded ? PKS__DELTA_LISTS_ENCODED : 0)),
    .lists_raw_length = (uint32_t)raw_lists,
    .lists_stored_length = (uint32_t)(is_encoded ? stored_lists : raw_lists),
    .lists = is_encoded ? encoder->lists_encoded : encoder->lists,
    .bytes = encoder->encoded,
    .bytes_length = encoded_length,
  };
  put_together(&group, length, out, stored_length);
  return PKS_OK;
}

/// Runs the slow encoder, with covers if there are any; at the highest effort without as well.
static pks_status encode_slowly(
  pks__group_encoder *encoder, const attempt *attempt, uint32_t length, size_t *encoded_length, pks_error *error
) {
  bool has_covers = encoder->covers.length > 0;
  const uint8_t *bytes = has_covers ? encoder->difference : encoder->raw;
  pks_status status = measure(encoder, encoder->slow, attempt, bytes, length, encoder->encoded, encoded_length, error);
  if (status || !has_covers || !encoder->effort.tries_both) { return status; }
  size_t without, said = 4 * (size_t)PKS__SCRATCH_COUNT(&encoder->covers, pks__delta_cover);
  status = measure(encoder, encoder->slow, attempt, encoder->raw, length, encoder->other, &without, error);
  if (status || without > *encoded_length + said) { return status; }
  uint8_t *shorter = encoder->other;
  encoder->other = encoder->encoded;
  encoder->encoded = shorter;
  *encoded_length = without;
  encoder->covers.length = 0;
  return PKS_OK;
}

/// Encodes the group after the prefix of an attempt. `*stored_length` is 0 when that is not shorter than the group.
static pks_status encode_after(
  pks__group_encoder *encoder, const pks__planned_group *group, attempt *attempt, uint8_t *out, size_t *stored_length,
  pks_error *error
) {
  size_t length = group->length, encoded_length;
  // At the highest effort, any saving is accepted.
  size_t limit = encoder->effort.tries_both ? length : length * WORTH_NUMERATOR / WORTH_DENOMINATOR;
  *stored_length = 0;
  if (attempt->covered_length >= limit) { return PKS_OK; }
  pks_status status = encoder->covered == attempt ? PKS_OK : try_covers(encoder, group, attempt, error);
  if (!status) { status = encode_slowly(encoder, attempt, group->length, &encoded_length, error); }
  if (status || encoded_length >= length) { return status; }
  return store_encoded(encoder, attempt, group->length, encoded_length, out, stored_length, error);
}

/// At the highest effort, a fitted prefix and another are both tried by the slow encoder, which does otherwise with them
/// than the fast one. Leaves the shorter stored form in `out`.
static pks_status try_rival(
  pks__group_encoder *encoder, const pks__planned_group *group, attempt **best, uint8_t *out, size_t *stored_length,
  pks_error *error
) {
  attempt *fitted = &encoder->attempts[PKS__PIECES_FITTED];
  attempt *rival = *best == fitted ? find_best(encoder, 0, PKS__PIECES_FITTED) : fitted;
  if (rival->quick_length == SIZE_MAX) { return PKS_OK; }
  if (rival->covered_length > (*best)->covered_length * RIVAL_MAX) { return PKS_OK; }
  size_t rival_length;
  pks_status status = encode_after(encoder, group, rival, encoder->rival, &rival_length, error);
  if (status || rival_length == 0 || (*stored_length > 0 && rival_length >= *stored_length)) { return status; }
  memcpy(out, encoder->rival, rival_length);
  *stored_length = rival_length;
  *best = rival;
  return PKS_OK;
}

// MARK: - Copies

/// Finds copies by the alignments of the group: with all of A, or else with the prefix of the attempt that was encoded.
static pks_status find_copies(
  pks__group_encoder *encoder, const pks__planned_group *group, const attempt *attempt, pks_error *error
) {
  const pks__delta_index *index = encoder->index;
  pks__align_search search = {.bytes = encoder->raw, .length = group->length};
  encoder->copies.length = 0;
  if (index->is_exact) {
    search.old = index->bytes.bytes;
    search.old_length = index->bytes.length;
    return pks__delta_copy_search(&search, &encoder->chooser.alignments, NULL, &encoder->copies, error);
  }
  if (encoder->covered != attempt) { return PKS_OK; }
  search.old = attempt->prefix;
  search.old_length = attempt->prefix_length;
  return pks__delta_copy_search(&search, &encoder->alignments, &attempt->pieces, &encoder->copies, error);
}

/// Collects the bytes between the copies.
static uint32_t gather_literals(const pks__group_encoder *encoder, uint32_t length, uint8_t *out) {
  uint32_t done = 0, used = 0;
  for (uint64_t i = 0; i < PKS__SCRATCH_COUNT(&encoder->copies, pks__delta_copy); i++) {
    const pks__delta_copy *copy = PKS__SCRATCH_AT(&encoder->copies, const pks__delta_copy, i);
    memcpy(out + used, encoder->raw + done, copy->begin - done);
    used += copy->begin - done;
    done = copy->begin + copy->length;
  }
  memcpy(out + used, encoder->raw + done, length - done);
  return used + (length - done);
}

/// Chooses the shortest form of the literals: coded after the copies, encoded by zstd, or as they are.
static pks_status encode_literals(
  pks__group_encoder *encoder, const pks__copy_list *list, uint32_t count, pks__delta_group *out, pks_error *error
) {
  const uint8_t *literals = encoder->other;
  size_t lists = pks__delta_put_copies(list, NULL, 0, encoder->lists, PKS__DELTA_LISTS_MAX);
  size_t coded = count > 0 && count <= LITERALS_CODED_MAX
    ? pks__delta_put_copies(list, literals, count, encoder->lists_encoded, PKS__DELTA_LISTS_MAX)
    : 0;
  size_t encoded =
    count > 0 ? pks__encode(encoder->slow, literals, count, encoder->encoded, encoder->encoded_capacity) : 0;
  if (encoded == SIZE_MAX) { return pks__fail_memory(error); }
  size_t apart = encoded > 0 ? encoded : count;
  bool is_coded = coded > 0 && coded < lists + apart;
  *out = (pks__delta_group){
    .form = PKS__DELTA_COPIED | (encoded > 0 ? PKS__DELTA_BYTES_ENCODED : 0),
    .lists_raw_length = (uint32_t)lists,
    .lists = encoder->lists,
    .bytes = encoded > 0 ? encoder->encoded : literals,
    .bytes_length = apart,
  };
  if (is_coded) {
    out->form = PKS__DELTA_COPIED | PKS__DELTA_LITERALS_CODED;
    out->lists_raw_length = (uint32_t)coded;
    out->lists = encoder->lists_encoded;
    out->bytes_length = 0;
  }
  out->lists_stored_length = out->lists_raw_length;
  return PKS_OK;
}

/// Stores the group as copies and literals if that is shorter. `*prefix_length` is then 0.
static pks_status try_copies(
  pks__group_encoder *encoder, const pks__planned_group *group, const attempt *attempt, uint8_t *out,
  size_t *stored_length, uint32_t *prefix_length, pks_error *error
) {
  pks_status status = find_copies(encoder, group, attempt, error);
  const pks__copy_list list = {
    .copies = PKS__SCRATCH_AT(&encoder->copies, const pks__delta_copy, 0),
    .count = PKS__SCRATCH_COUNT(&encoder->copies, pks__delta_copy),
    .steps = &encoder->plan->steps,
    .group = group->position,
    .raw_length = group->length,
  };
  // Without prefixes, this is also the form of a group without copies.
  if (status || (list.count == 0 && !encoder->effort.only_copies)) { return status; }
  // `difference` must stay as it is: the slow encoder may need it later.
  uint32_t literal_count = gather_literals(encoder, group->length, encoder->other);
  if (literal_count / LITERALS_MAX > *stored_length) { return PKS_OK; }
  pks__delta_group parts;
  size_t shorter;
  status = encode_literals(encoder, &list, literal_count, &parts, error);
  if (status) { return status; }
  put_together(&parts, group->length, encoder->rival, &shorter);
  if (shorter == 0 || shorter >= *stored_length) { return PKS_OK; }
  memcpy(out, encoder->rival, shorter);
  *stored_length = shorter;
  *prefix_length = 0;
  return PKS_OK;
}

/// Encodes the group after the best prefix, or leaves `*stored_length` 0.
static pks_status encode_best(
  pks__group_encoder *encoder, const pks__planned_group *group, attempt **best, uint8_t *out, size_t *stored_length,
  pks_error *error
) {
  if (encoder->effort.only_copies) {
    // Without an exact index, the copies come from the alignments that covers come from.
    return encoder->covered == *best ? PKS_OK : try_covers(encoder, group, *best, error);
  }
  pks_status status = encode_after(encoder, group, *best, out, stored_length, error);
  if (status || !encoder->effort.tries_both) { return status; }
  return try_rival(encoder, group, best, out, stored_length, error);
}

/// Tries copies before the slow encoder, if they can be found already. Returns in `*is_best` whether that one cannot do better.
static pks_status try_copies_first(
  pks__group_encoder *encoder, const pks__planned_group *group, const attempt *best, uint8_t *out,
  size_t *stored_length, uint32_t *prefix_length, bool *is_best, pks_error *error
) {
  *is_best = false;
  if (!encoder->index->is_exact) { return PKS_OK; }
  *stored_length = group->length;
  pks_status status = try_copies(encoder, group, best, out, stored_length, prefix_length, error);
  *is_best = *stored_length < best->covered_length / 2;
  return status;
}

pks_status pks__group_encode(
  pks__group_encoder *encoder, const pks__planned_group *group, uint8_t *out, size_t *stored_length,
  uint32_t *prefix_length, pks_error *error
) {
  attempt *best;
  bool is_best;
  *stored_length = *prefix_length = 0;
  pks_status status = read_group(encoder, group, error);
  if (!status) { status = try_prefixes(encoder, group, error); }
  if (!status) { status = choose_attempt(encoder, group, &best, error); }
  if (status) { return status; }
  status = try_copies_first(encoder, group, best, out, stored_length, prefix_length, &is_best, error);
  if (status || is_best) { return status; }
  *stored_length = 0;
  status = encode_best(encoder, group, &best, out, stored_length, error);
  if (status) { return status; }
  if (*stored_length > 0) { *prefix_length = best->prefix_length; }
  if (*stored_length == 0) { *stored_length = store_raw(encoder, group->length, out); }
  return try_copies(encoder, group, best, out, stored_length, prefix_length, error);
}
