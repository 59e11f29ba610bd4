/// Threads, locks and one-time initialisation: the core's only use of pthreads.
///
/// `pks__pool` runs tasks on a fixed number of threads. With one thread it starts none and runs every task inside
/// `pks__pool_finish`, on the caller: what a simulator needs, and what a one-core machine wants.
#ifndef PKS_THREADS_H
#define PKS_THREADS_H

#include "base.h"
#include "vfs.h"

/// A mutual exclusion lock, never held across I/O of unbounded length.
typedef struct pks__mutex pks__mutex;
PKS_NODISCARD pks__mutex *pks__mutex_create(void);
void pks__mutex_destroy(pks__mutex *mutex);  ///< NULL is fine
void pks__mutex_lock(pks__mutex *mutex);
void pks__mutex_unlock(pks__mutex *mutex);

/// Work for a pool. The owner keeps the task alive and untouched from `submit` until `finish` returned it.
typedef struct pks__task {
  void (*run
  )(struct pks__task *task, uint32_t worker);  ///< `worker` < thread count: an index into per-worker resources
  struct pks__task *next;                      ///< the pool's
  uint32_t state;                              ///< the pool's
} pks__task;

typedef struct pks__pool pks__pool;

/// A pool of `thread_count` (>= 1) workers, of which the thread that calls `finish` is one: it starts `thread_count -
/// 1`.
PKS_NODISCARD pks__pool *pks__pool_create(uint32_t thread_count);
void pks__pool_destroy(pks__pool *pool);  ///< no task may be under way; NULL is fine
uint32_t pks__pool_thread_count(const pks__pool *pool);
void pks__pool_submit(pks__pool *pool, pks__task *task);
/// Returns when `task` has run; runs waiting tasks on this thread meanwhile, oldest first. One caller at a time.
void pks__pool_finish(pks__pool *pool, pks__task *task);
/// Whether the task has run; never waits.
bool pks__pool_has_run(pks__pool *pool, const pks__task *task);

#endif
