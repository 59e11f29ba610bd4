// Many messages at once. A message in flight occupies a *lane*; a kernel of several lanes advances all of them by the same
// number of blocks.
//
// The blocks of a message are in two *segments*: the whole blocks of the message itself, and its padded end, which the lane
// stores. Each step runs as many blocks as the shortest rest of a segment has. A lane that completes its first segment continues
// with the second; a lane that completes its second stores the digest and starts the next message.
//
// While messages wait, every lane is active. At the end lanes fall idle, and below `active_min` a narrower kernel is faster: the
// messages in flight are suspended and continue at the next level, and after the last level in the kernel for one stream.

#include "kernels.h"
#include "padding.h"

/// A message, and its digest after some of its blocks.
typedef struct suspended_job {
  const pkh_message *message;
  size_t done_count;  // blocks
  uint32_t words[8];
} suspended_job;

/// The messages that wait: suspended ones, which go first, and those not started yet.
typedef struct waiting_messages {
  const pkh_message *messages;
  size_t message_count;
  suspended_job suspended[PKH__LANES_MAX];
  size_t suspended_count;
} waiting_messages;

/// The messages in flight at one level. Arrays have an element per lane.
typedef struct lane_set {
  const pkh__lanes *level;
  size_t active_count;
  const pkh_message *message[PKH__LANES_MAX];  // NULL: the lane is idle
  const uint8_t *next[PKH__LANES_MAX];         // the rest of the current segment
  size_t block_count[PKH__LANES_MAX];          // blocks at `next`, at least one
  size_t segment_end[PKH__LANES_MAX];          // blocks of the message up to the end of the segment
  _Alignas(64) uint32_t words[8 * PKH__LANES_MAX];
  uint8_t end[PKH__LANES_MAX][2 * PKH__BLOCK_SIZE];
} lane_set;

// MARK: - Segments

/// Blocks of the first segment.
static size_t whole_block_count(const pkh_message *message) { return message->byte_count / PKH__BLOCK_SIZE; }

/// Copies the partial block of a message to `end` and pads it. Returns the number of blocks in `end`.
static size_t make_end(uint8_t end[2 * PKH__BLOCK_SIZE], const pkh_message *message) {
  const size_t rest = message->byte_count % PKH__BLOCK_SIZE;
  if (rest > 0) { memcpy(end, (const uint8_t *)message->bytes + (message->byte_count - rest), rest); }
  return pkh__pad(end, message->byte_count);
}

/// Moves the lane to the segment that contains block `done_count` of its message, and to that block in it.
static void enter_segment(lane_set *set, size_t lane, size_t done_count) {
  const pkh_message *message = set->message[lane];
  const size_t whole_count = whole_block_count(message);
  if (done_count < whole_count) {
    set->segment_end[lane] = whole_count;
    set->next[lane] = (const uint8_t *)message->bytes + done_count * PKH__BLOCK_SIZE;
  } else {
    set->segment_end[lane] = whole_count + make_end(set->end[lane], message);
    set->next[lane] = set->end[lane] + (done_count - whole_count) * PKH__BLOCK_SIZE;
  }
  set->block_count[lane] = set->segment_end[lane] - done_count;
}

// MARK: - Lanes

static void set_words(lane_set *set, size_t lane, const uint32_t words[8]) {
  uint32_t *first = set->words + lane * set->level->lane_stride;
  for (size_t i = 0; i < 8; i++) { first[i * set->level->word_stride] = words[i]; }
}

/// Takes the next waiting message into an idle lane. Does nothing if none waits.
static void fill(lane_set *set, size_t lane, waiting_messages *waiting) {
  if (waiting->suspended_count > 0) {
    const suspended_job *job = &waiting->suspended[--waiting->suspended_count];
    set->message[lane] = job->message;
    set_words(set, lane, job->words);
    enter_segment(set, lane, job->done_count);
  } else if (waiting->message_count > 0) {
    waiting->message_count--;
    set->message[lane] = waiting->messages++;
    set_words(set, lane, pkh__initial_words);
    enter_segment(set, lane, 0);
  } else {
    return;
  }
  set->active_count++;
}

/// Continues a lane whose segment is complete: with the next segment, or with the next message.
static void complete_segment(lane_set *set, size_t lane, waiting_messages *waiting) {
  const pkh_message *message = set->message[lane];
  if (set->segment_end[lane] == whole_block_count(message)) {
    enter_segment(set, lane, set->segment_end[lane]);
    return;
  }
  pkh__store_digest(message->digest, set->words + lane * set->level->lane_stride, set->level->word_stride);
  set->message[lane] = NULL;
  set->active_count--;
  fill(set, lane, waiting);
}

/// Returns the number of blocks that all active lanes have, and lets idle lanes read the same blocks as an active one.
static size_t prepare_step(lane_set *set) {
  size_t block_count = SIZE_MAX;
  const uint8_t *active = NULL;
  for (size_t lane = 0; lane < set->level->lane_count; lane++) {
    if (set->message[lane] == NULL || set->block_count[lane] >= block_count) { continue; }
    block_count = set->block_count[lane];
    active = set->next[lane];
  }
  if (set->active_count < set->level->lane_count) {
    for (size_t lane = 0; lane < set->level->lane_count; lane++) {
      if (set->message[lane] == NULL) { set->next[lane] = active; }
    }
  }
  return block_count;
}

/// Advances all lanes to the end of the segment that ends first.
static void step(lane_set *set, waiting_messages *waiting) {
  const size_t block_count = prepare_step(set);
  set->level->kernel(set->words, set->next, block_count);
  for (size_t lane = 0; lane < set->level->lane_count; lane++) {
    if (set->message[lane] == NULL) { continue; }
    set->next[lane] += block_count * PKH__BLOCK_SIZE;
    set->block_count[lane] -= block_count;
    if (set->block_count[lane] == 0) { complete_segment(set, lane, waiting); }
  }
}

static void suspend(lane_set *set, size_t lane, waiting_messages *waiting) {
  suspended_job *job = &waiting->suspended[waiting->suspended_count++];
  const uint32_t *first = set->words + lane * set->level->lane_stride;
  job->message = set->message[lane];
  job->done_count = set->segment_end[lane] - set->block_count[lane];
  for (size_t i = 0; i < 8; i++) { job->words[i] = first[i * set->level->word_stride]; }
}

// MARK: - Levels

/// Runs messages in the lanes of one level, until fewer than `active_min` are left. Those return to the waiting.
static void run_level(const pkh__lanes *level, waiting_messages *waiting) {
  if (waiting->suspended_count + waiting->message_count < level->active_min) { return; }
  lane_set set;
  set.level = level;
  set.active_count = 0;
  for (size_t lane = 0; lane < level->lane_count; lane++) {
    set.message[lane] = NULL;
    fill(&set, lane, waiting);
  }
  while (set.active_count >= level->active_min) { step(&set, waiting); }
  for (size_t lane = 0; lane < level->lane_count; lane++) {
    if (set.message[lane] != NULL) { suspend(&set, lane, waiting); }
  }
}

/// Completes one message by itself.
static void finish_alone(pkh__stream_kernel *stream, suspended_job *job) {
  uint8_t end[2 * PKH__BLOCK_SIZE];
  const pkh_message *message = job->message;
  const size_t whole_count = whole_block_count(message);
  if (job->done_count < whole_count) {
    const size_t offset = job->done_count * PKH__BLOCK_SIZE;
    stream(job->words, (const uint8_t *)message->bytes + offset, whole_count - job->done_count);
    job->done_count = whole_count;
  }
  const size_t end_count = make_end(end, message), done_in_end = job->done_count - whole_count;
  stream(job->words, end + done_in_end * PKH__BLOCK_SIZE, end_count - done_in_end);
  pkh__store_digest(message->digest, job->words, 1);
}

void pkh_sha256_many_by(const pkh_implementation *implementation, const pkh_message *messages, size_t count) {
  waiting_messages waiting;
  waiting.messages = messages;
  waiting.message_count = count;
  waiting.suspended_count = 0;
  for (size_t i = 0; i < PKH__LEVELS_MAX && implementation->levels[i].kernel != NULL; i++) {
    run_level(&implementation->levels[i], &waiting);
  }
  for (size_t i = 0; i < waiting.suspended_count; i++) { finish_alone(implementation->stream, &waiting.suspended[i]); }
  for (size_t i = 0; i < waiting.message_count; i++) {
    const pkh_message *message = &waiting.messages[i];
    pkh_sha256_by(implementation, message->bytes, message->byte_count, message->digest);
  }
}

void pkh_sha256_many(const pkh_message *messages, size_t count) {
  pkh_sha256_many_by(pkh_implementation_selected(), messages, count);
}
