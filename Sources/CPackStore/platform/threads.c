// Mutex, pool and crew over pthreads.
//
// The states of a pool's task, all under the pool's lock except as noted:
//
//   (anything) --submit--> QUEUED --take_oldest--> RUNNING --complete--> DONE
//
// DONE is stored with release ordering and is the last touch of the task, so that `has_run` may look without the lock,
// and a thread that sees DONE sees all that the task did and may reuse its memory.

#if !defined(__APPLE__) && !defined(_GNU_SOURCE)
  #define _GNU_SOURCE 1  // signal masks, under -std=c11
#endif

#include "platform/threads.h"

#include <pthread.h>
#include <signal.h>

#include "base/memory.h"

struct pks__mutex {
  pthread_mutex_t lock;
};

pks__mutex *pks__mutex_create(void) {
  pks__mutex *mutex = pks__allocate(sizeof *mutex);
  if (mutex && pthread_mutex_init(&mutex->lock, NULL) != 0) {
    pks__free(mutex);
    return NULL;
  }
  return mutex;
}

void pks__mutex_destroy(pks__mutex *mutex) {
  if (!mutex) { return; }
  PKS_ASSERT(pthread_mutex_destroy(&mutex->lock) == 0);
  pks__free(mutex);
}

void pks__mutex_lock(pks__mutex *mutex) { PKS_ASSERT(pthread_mutex_lock(&mutex->lock) == 0); }

void pks__mutex_unlock(pks__mutex *mutex) { PKS_ASSERT(pthread_mutex_unlock(&mutex->lock) == 0); }

enum { TASK_QUEUED = 1, TASK_RUNNING = 2, TASK_DONE = 3 };

typedef struct worker {
  pks__pool *pool;
  uint32_t index;
  pthread_t thread;
} worker;

struct pks__pool {
  pthread_mutex_t lock;
  pthread_cond_t work_came;   // workers wait here
  pthread_cond_t task_ended;  // the caller of `finish` waits here: for its task, or for work to help with
  pks__task *oldest;
  pks__task *newest;         // meaningless while `oldest` is NULL
  const pks__task *awaited;  // of the sleeping caller of `finish`; NULL if none sleeps
  bool finishing;
  bool stopping;
  uint32_t thread_count;
  uint32_t started;  // of `workers`
  worker workers[];  // `thread_count - 1`; worker 0 is the caller of `finish`
};

static uint32_t state_of(const pks__task *task) { return __atomic_load_n(&task->state, __ATOMIC_ACQUIRE); }

static void set_state(pks__task *task, uint32_t state) { __atomic_store_n(&task->state, state, __ATOMIC_RELEASE); }

static pks__task *take_oldest(pks__pool *pool) {
  pks__task *task = pool->oldest;
  if (!task) { return NULL; }
  pool->oldest = task->next;
  task->next = NULL;
  set_state(task, TASK_RUNNING);
  return task;
}

static void complete(pks__pool *pool, pks__task *task) {
  if (pool->awaited == task) { pthread_cond_signal(&pool->task_ended); }
  set_state(task, TASK_DONE);
}

// Called and left with the lock held.
static void run_unlocked(pks__pool *pool, pks__task *task, uint32_t index) {
  pthread_mutex_unlock(&pool->lock);
  task->run(task, index);
  pthread_mutex_lock(&pool->lock);
  complete(pool, task);
}

static void *worker_main(void *context) {
  const worker *self = context;
  pks__pool *pool = self->pool;
  pthread_mutex_lock(&pool->lock);
  while (!pool->stopping) {
    pks__task *task = take_oldest(pool);
    if (task) {
      run_unlocked(pool, task, self->index);
    } else {
      pthread_cond_wait(&pool->work_came, &pool->lock);
    }
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

// Starts a thread that takes no signals but those it causes itself: the host program's handlers run on its own threads,
// and its crash reporter sees ours.
static bool start_thread(pthread_t *thread, void *(*main)(void *), void *context) {
  sigset_t all, before;
  sigfillset(&all);
  static const int own[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
  for (size_t i = 0; i < PKS_COUNT_OF(own); i++) { sigdelset(&all, own[i]); }
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) { return false; }
  bool started = pthread_create(thread, NULL, main, context) == 0;
  PKS_ASSERT(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
  return started;
}

static bool start_workers(pks__pool *pool) {
  while (pool->started < pool->thread_count - 1) {
    worker *next = &pool->workers[pool->started];
    next->pool = pool;
    next->index = pool->started + 1;
    if (!start_thread(&next->thread, worker_main, next)) { return false; }
    pool->started++;
  }
  return true;
}

static bool init_locks(pks__pool *pool) {
  if (pthread_mutex_init(&pool->lock, NULL) != 0) { return false; }
  if (pthread_cond_init(&pool->work_came, NULL) != 0) { goto no_work_came; }
  if (pthread_cond_init(&pool->task_ended, NULL) != 0) { goto no_task_ended; }
  return true;

no_task_ended:
  pthread_cond_destroy(&pool->work_came);
no_work_came:
  pthread_mutex_destroy(&pool->lock);
  return false;
}

/// Bytes of a struct with `count` elements at its end; false when no memory could hold it.
static bool size_with_tail(size_t head, uint32_t count, size_t element, size_t *out) {
  uint64_t byte_count;
  bool fits = !pks__mul_overflows(count, element, &byte_count) && !pks__add_overflows(byte_count, head, &byte_count)
    && byte_count <= SIZE_MAX;
  *out = fits ? (size_t)byte_count : 0;
  return fits;
}

pks__pool *pks__pool_create(uint32_t thread_count) {
  PKS_ASSERT(thread_count >= 1);
  size_t byte_count;
  if (!size_with_tail(sizeof(pks__pool), thread_count - 1, sizeof(worker), &byte_count)) { return NULL; }
  pks__pool *pool = pks__allocate_zeroed(1, byte_count);
  if (!pool) { return NULL; }
  pool->thread_count = thread_count;
  if (!init_locks(pool)) {
    pks__free(pool);
    return NULL;
  }
  if (!start_workers(pool)) {
    pks__pool_destroy(pool);
    return NULL;
  }
  return pool;
}

void pks__pool_destroy(pks__pool *pool) {
  if (!pool) { return; }
  pthread_mutex_lock(&pool->lock);
  PKS_ASSERT(!pool->oldest && !pool->finishing);
  pool->stopping = true;
  pthread_cond_broadcast(&pool->work_came);
  pthread_mutex_unlock(&pool->lock);
  for (uint32_t i = 0; i < pool->started; i++) { PKS_ASSERT(pthread_join(pool->workers[i].thread, NULL) == 0); }
  PKS_ASSERT(pthread_cond_destroy(&pool->task_ended) == 0);
  PKS_ASSERT(pthread_cond_destroy(&pool->work_came) == 0);
  PKS_ASSERT(pthread_mutex_destroy(&pool->lock) == 0);
  pks__free(pool);
}

uint32_t pks__pool_thread_count(const pks__pool *pool) { return pool->thread_count; }

void pks__pool_submit(pks__pool *pool, pks__task *task) {
  task->next = NULL;
  pthread_mutex_lock(&pool->lock);
  set_state(task, TASK_QUEUED);
  if (pool->oldest) {
    pool->newest->next = task;
  } else {
    pool->oldest = task;
  }
  pool->newest = task;
  pthread_cond_signal(&pool->work_came);
  if (pool->awaited) { pthread_cond_signal(&pool->task_ended); }
  pthread_mutex_unlock(&pool->lock);
}

void pks__pool_finish(pks__pool *pool, pks__task *task) {
  if (pks__pool_has_run(pool, task)) { return; }
  pthread_mutex_lock(&pool->lock);
  PKS_ASSERT(!pool->finishing);  // two helpers would both be worker 0
  pool->finishing = true;
  while (state_of(task) != TASK_DONE) {
    pks__task *waiting = take_oldest(pool);
    if (waiting) {
      run_unlocked(pool, waiting, 0);
    } else {
      PKS_ASSERT(state_of(task) == TASK_RUNNING);  // not submitted, or its state overwritten: it would never end
      pool->awaited = task;
      pthread_cond_wait(&pool->task_ended, &pool->lock);
      pool->awaited = NULL;
    }
  }
  pool->finishing = false;
  pthread_mutex_unlock(&pool->lock);
}

bool pks__pool_has_run(pks__pool *pool, const pks__task *task) {
  (void)pool;
  return state_of(task) == TASK_DONE;
}

// MARK: - Crew

struct pks__crew {
  pthread_mutex_t lock;
  pthread_cond_t called;  // idle threads wait here
  pthread_cond_t left;    // callers wait here for the last helper
  pks__effort *efforts;   // efforts that need more helpers
  bool stopping;
  bool has_started;
  uint32_t thread_count;
  uint32_t started;
  pthread_t threads[];
};

static void leave_list(pks__crew *crew, const pks__effort *effort) {
  pks__effort **link = &crew->efforts;
  while (*link && *link != effort) { link = &(*link)->next; }
  if (*link) { *link = effort->next; }
}

static void *crew_main(void *context) {
  pks__crew *crew = context;
  pthread_mutex_lock(&crew->lock);
  while (!crew->stopping) {
    pks__effort *effort = crew->efforts;
    if (!effort) {
      pthread_cond_wait(&crew->called, &crew->lock);
      continue;
    }
    effort->helping++;
    if (--effort->wanted == 0) { leave_list(crew, effort); }
    pthread_mutex_unlock(&crew->lock);
    effort->run(effort);
    pthread_mutex_lock(&crew->lock);
    // What one helper found finished, another need not look at.
    leave_list(crew, effort);
    if (--effort->helping == 0) { pthread_cond_broadcast(&crew->left); }
  }
  pthread_mutex_unlock(&crew->lock);
  return NULL;
}

pks__crew *pks__crew_create(uint32_t thread_count) {
  size_t byte_count;
  if (!size_with_tail(sizeof(pks__crew), thread_count, sizeof(pthread_t), &byte_count)) { return NULL; }
  pks__crew *crew = pks__allocate_zeroed(1, byte_count);
  if (!crew) { return NULL; }
  crew->thread_count = thread_count;
  if (pthread_mutex_init(&crew->lock, NULL) != 0) { goto no_lock; }
  if (pthread_cond_init(&crew->called, NULL) != 0) { goto no_called; }
  if (pthread_cond_init(&crew->left, NULL) != 0) { goto no_left; }
  return crew;

no_left:
  pthread_cond_destroy(&crew->called);
no_called:
  pthread_mutex_destroy(&crew->lock);
no_lock:
  pks__free(crew);
  return NULL;
}

void pks__crew_destroy(pks__crew *crew) {
  if (!crew) { return; }
  pthread_mutex_lock(&crew->lock);
  PKS_ASSERT(!crew->efforts);
  crew->stopping = true;
  pthread_cond_broadcast(&crew->called);
  pthread_mutex_unlock(&crew->lock);
  for (uint32_t i = 0; i < crew->started; i++) { PKS_ASSERT(pthread_join(crew->threads[i], NULL) == 0); }
  PKS_ASSERT(pthread_cond_destroy(&crew->left) == 0);
  PKS_ASSERT(pthread_cond_destroy(&crew->called) == 0);
  PKS_ASSERT(pthread_mutex_destroy(&crew->lock) == 0);
  pks__free(crew);
}

uint32_t pks__crew_thread_count(const pks__crew *crew) { return crew->thread_count; }

void pks__crew_call(pks__crew *crew, pks__effort *effort, uint32_t wanted) {
  effort->wanted = wanted < crew->thread_count ? wanted : crew->thread_count;
  effort->helping = 0;
  if (effort->wanted == 0) { return; }
  pthread_mutex_lock(&crew->lock);
  if (!crew->has_started) {
    crew->has_started = true;
    while (crew->started < crew->thread_count && start_thread(&crew->threads[crew->started], crew_main, crew)) {
      crew->started++;
    }
  }
  effort->next = crew->efforts;
  crew->efforts = effort;
  for (uint32_t i = 0; i < effort->wanted; i++) { pthread_cond_signal(&crew->called); }
  pthread_mutex_unlock(&crew->lock);
}

void pks__crew_dismiss(pks__crew *crew, pks__effort *effort) {
  pthread_mutex_lock(&crew->lock);
  leave_list(crew, effort);
  while (effort->helping > 0) { pthread_cond_wait(&crew->left, &crew->lock); }
  pthread_mutex_unlock(&crew->lock);
}
