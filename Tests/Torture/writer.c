/// The swapping process: plans a generation, publishes the plan on the board, commits it.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "CPackHash.h"
#include "folder.h"
#include "killer.h"
#include "step.h"
#include "storm.h"

/// Few, because they wait for the disk, and this test is about processes.
enum { DURABLE_ONE_IN = 16 };

typedef struct writer {
  const part *part;
  pks_store *store;
  uint64_t random;
  store_state state;
  content_held held[PACK_COUNT];
  failure *failure;
} writer;

// MARK: - What to do next

static uint64_t next_version(const writer *writer, uint32_t pack) { return writer->state.packs[pack].version + 1; }

static change add(const writer *writer, uint32_t pack) {
  return (change){.kind = CHANGE_ADD, .pack = pack, .version = next_version(writer, pack)};
}

static uint32_t pick_small(writer *writer) { return PACK_A + (uint32_t)random_below(&writer->random, 3); }

static void plan_other(writer *writer, step *step) {
  uint32_t pack = pick_small(writer);
  bool is_there = writer->state.packs[pack].is_there;
  switch (random_below(&writer->random, 8)) {
    case 0: step->changes[0] = add(writer, PACK_LARGE); break;
    case 1: step->changes[0] = add(writer, PACK_RAW); break;
    case 2:
    case 3: step->changes[0] = is_there ? (change){.kind = CHANGE_REMOVE, .pack = pack} : add(writer, pack); break;
    case 4:
    case 5:
      step->changes[0] = is_there
        ? (change){.kind = CHANGE_PRIORITY, .pack = pack, .priority = (int32_t)random_below(&writer->random, 5) - 2}
        : add(writer, pack);
      break;
    default:
      step->change_count = 2;
      step->changes[0] = add(writer, PACK_LEFT);
      step->changes[1] = add(writer, PACK_RIGHT);
  }
}

static step plan_step(writer *writer) {
  step step = {
    .durability = random_below(&writer->random, DURABLE_ONE_IN) ? PKS_ATOMIC : PKS_DURABLE,
    .keep = 1 + (uint32_t)random_below(&writer->random, 3),
    .change_count = 1,
    .changes = {add(writer, pick_small(writer))}};
  if (random_below(&writer->random, 4) == 0) { plan_other(writer, &step); }
  return step;
}

// MARK: - Committing

static bool write_sources(writer *writer, const step *step) {
  for (uint32_t i = 0; i < step->change_count; i++) {
    const change *change = &step->changes[i];
    char folder[4096];
    source_folder(writer->part->sources, change->pack, 0, folder);
    bool good =
      change->kind != CHANGE_ADD || content_write(folder, change->pack, change->version, &writer->held[change->pack]);
    if (!good) { return fail(writer->failure, "cannot write %s: %s", folder, strerror(errno)); }
  }
  return true;
}

static bool read_generation(const writer *writer, uint64_t *out) {
  pks_error error = {0};
  pks_snapshot *snapshot;
  pks_status status = pks_snapshot_open(&snapshot, writer->store, &error);
  if (!succeeded(writer->failure, "snapshot", status, &error)) { return false; }
  *out = pks_snapshot_generation(snapshot);
  pks_snapshot_close(snapshot);
  return true;
}

/// A durable commit may empty segments in a second commit with the same contents, which is planned too.
static bool commit(writer *writer, const step *step, pks_txn *txn) {
  process_figures *figures = writer->part->figures;
  store_state next = writer->state;
  pks_error error = {0};
  uint64_t expected = atomic_load(&writer->part->board->committed) + 1, generation = 0;
  step_apply(step, &next);
  board_plan(writer->part->board, expected, &next);
  board_plan(writer->part->board, expected + 1, &next);
  pks_status status = pks_txn_commit(txn, &generation, &error);
  if (!succeeded(writer->failure, "commit", status, &error)) { return false; }
  if (generation != expected) { return fail(writer->failure, "not the generation that was expected"); }
  if (!read_generation(writer, &generation)) { return false; }
  if (generation > expected + 1) { return fail(writer->failure, "two generations more than were expected"); }
  atomic_store(&writer->part->board->committed, generation);
  writer->state = next;
  atomic_fetch_add(&figures->swaps, 1);
  part_note_work(writer->part->work);
  if (step->durability == PKS_DURABLE) { atomic_fetch_add(&figures->durable_swaps, 1); }
  return true;
}

static bool swap_once(writer *writer) {
  step step = plan_step(writer);
  if (!write_sources(writer, &step)) { return false; }
  pks_txn *txn = step_stage(&step, writer->store, writer->part->sources, false, writer->failure);
  if (!txn) { return false; }
  if (random_below(&writer->random, 50) == 0) {
    pks_txn_abort(txn);
    return true;
  }
  return commit(writer, &step, txn);
}

/// Continues after the previous writer: at the last generation it saw committed, at the commit it had begun, or at a
/// generation that emptied segments after it.
static bool take_over(writer *writer) {
  uint64_t generation, known = atomic_load(&writer->part->board->committed);
  if (!read_generation(writer, &generation)) { return false; }
  if (generation < known || generation > known + 2) {
    return fail(
      writer->failure, "generation %llu after %llu", (unsigned long long)generation, (unsigned long long)known
    );
  }
  atomic_store(&writer->part->board->committed, generation);
  return board_find(writer->part->board, generation, &writer->state) || fail(writer->failure, "no plan has this");
}

bool writer_run(const part *part) {
  killer killer = {.kill_at = part->kill_at, .was_killed = &part->figures->killed_itself};
  killer_arm(&killer);
  writer writer = {.part = part, .random = part->seed, .failure = &part->figures->failure};
  pks_options options = {
    .sha256 = pkh_sha256, .thread_count = 1 + (uint32_t)random_below(&writer.random, 2), .vfs = &killer.vfs};
  pks_error error = {0};
  pks_status status = pks_store_open(&writer.store, part->store, &options, &error);
  bool good = succeeded(writer.failure, "open", status, &error) && take_over(&writer);
  while (good && !atomic_load(&part->board->is_over)) { good = swap_once(&writer); }
  pks_store_close(writer.store);
  return good;
}
