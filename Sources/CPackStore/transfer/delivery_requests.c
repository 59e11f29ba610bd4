#include "transfer/delivery_requests.h"

#include "base/sort.h"

void pks__delivery_requests_init(pks__delivery_requests *requests, pks__delivery_context *context) {
  pks__scratch *round = &requests->round;
  *requests = (pks__delivery_requests){0};
  pks__delivery_context_own(context, &round, 1, NULL, 0);
}

void pks__delivery_requests_begin(pks__delivery_requests *requests) {
  requests->round.length = 0;
  requests->handed = requests->given = 0;
}

pks_status pks__delivery_requests_add(
  pks__delivery_requests *requests, const pks__byte_request *request, pks_error *error
) {
  return pks__scratch_append(&requests->round, request, sizeof *request, error);
}

static bool stands_before(const void *context, const void *first, const void *second) {
  const pks__byte_request *a = first, *b = second;
  (void)context;
  if (a->segment != b->segment) { return a->segment < b->segment; }
  if (a->kind != b->kind) { return a->kind < b->kind; }
  return a->offset < b->offset;
}

void pks__delivery_requests_sort(pks__delivery_requests *requests) {
  pks__byte_request *round = PKS__SCRATCH_AT(&requests->round, pks__byte_request, 0);
  uint64_t count = PKS__SCRATCH_COUNT(&requests->round, pks__byte_request), kept = 0;
  PKS_ASSERT(requests->handed == 0);
  pks__sort(round, count, sizeof *round, stands_before, NULL);
  for (uint64_t i = 0; i < count; i++) {
    if (kept > 0 && !stands_before(NULL, &round[kept - 1], &round[i])) { continue; }
    round[kept++] = round[i];
  }
  requests->round.length = kept * sizeof *round;
}

const pks__byte_request *pks__delivery_requests_hand_out(pks__delivery_requests *requests) {
  if (requests->handed == PKS__SCRATCH_COUNT(&requests->round, pks__byte_request)) { return NULL; }
  return PKS__SCRATCH_AT(&requests->round, const pks__byte_request, requests->handed++);
}

const pks__byte_request *pks__delivery_requests_oldest(const pks__delivery_requests *requests) {
  return requests->given < requests->handed
    ? PKS__SCRATCH_AT(&requests->round, const pks__byte_request, requests->given)
    : NULL;
}

void pks__delivery_requests_take(pks__delivery_requests *requests) {
  PKS_ASSERT(requests->given < requests->handed);
  requests->given++;
}
