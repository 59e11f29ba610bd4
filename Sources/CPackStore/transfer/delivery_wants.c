#include "transfer/delivery_wants.h"

#include "base/sort.h"

void pks__delivery_wants_init(pks__delivery_wants *wants, pks__delivery_context *context) {
  pks__scratch *round = &wants->round;
  *wants = (pks__delivery_wants){0};
  pks__delivery_context_own(context, &round, 1, NULL, 0);
}

void pks__delivery_wants_begin(pks__delivery_wants *wants) {
  wants->round.length = 0;
  wants->handed = wants->given = 0;
}

pks_status pks__delivery_wants_add(pks__delivery_wants *wants, const pks__want *want, pks_error *error) {
  return pks__scratch_append(&wants->round, want, sizeof *want, error);
}

static bool stands_before(const void *context, const void *first, const void *second) {
  const pks__want *a = first, *b = second;
  (void)context;
  if (a->segment != b->segment) { return a->segment < b->segment; }
  if (a->kind != b->kind) { return a->kind < b->kind; }
  return a->offset < b->offset;
}

void pks__delivery_wants_sort(pks__delivery_wants *wants) {
  pks__want *round = PKS__SCRATCH_AT(&wants->round, pks__want, 0);
  uint64_t count = PKS__SCRATCH_COUNT(&wants->round, pks__want), kept = 0;
  PKS_ASSERT(wants->handed == 0);
  pks__sort(round, count, sizeof *round, stands_before, NULL);
  for (uint64_t i = 0; i < count; i++) {
    if (kept > 0 && !stands_before(NULL, &round[kept - 1], &round[i])) { continue; }
    round[kept++] = round[i];
  }
  wants->round.length = kept * sizeof *round;
}

const pks__want *pks__delivery_wants_hand_out(pks__delivery_wants *wants) {
  if (wants->handed == PKS__SCRATCH_COUNT(&wants->round, pks__want)) { return NULL; }
  return PKS__SCRATCH_AT(&wants->round, const pks__want, wants->handed++);
}

const pks__want *pks__delivery_wants_oldest(const pks__delivery_wants *wants) {
  return wants->given < wants->handed ? PKS__SCRATCH_AT(&wants->round, const pks__want, wants->given) : NULL;
}

void pks__delivery_wants_take(pks__delivery_wants *wants) {
  PKS_ASSERT(wants->given < wants->handed);
  wants->given++;
}
