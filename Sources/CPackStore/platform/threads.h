/// Threads and locks: the core's only use of pthreads.
///
/// `pks__pool` runs tasks on a fixed number of threads. With one thread it starts none and runs every task inside
/// `pks__pool_finish`, on the caller: required by a simulator, and best on a one-core machine.
///
/// `pks__crew` is an inverted pool, for calls that any thread may make at any time: the caller does its work itself, and idle
/// threads help. No thread waits for help.
#ifndef PKS_PLATFORM_THREADS_H
#define PKS_PLATFORM_THREADS_H

#include "base/base.h"
#include "platform/vfs.h"

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

/// Creates a pool of `thread_count` (>= 1) workers, including the thread that calls `finish`: it starts `thread_count - 1`.
PKS_NODISCARD pks__pool *pks__pool_create(uint32_t thread_count);
void pks__pool_destroy(pks__pool *pool);  ///< no task may be under way; NULL is fine
uint32_t pks__pool_thread_count(const pks__pool *pool);
void pks__pool_submit(pks__pool *pool, pks__task *task);
/// Returns when `task` has run; until then, runs waiting tasks on this thread, oldest first. One caller at a time.
void pks__pool_finish(pks__pool *pool, pks__task *task);
/// Whether the task has run; never waits.
bool pks__pool_has_run(pks__pool *pool, const pks__task *task);

/// Work that several threads may share. It is on the stack of the caller, who does it too.
typedef struct pks__effort {
  /// Does work until none is left to begin; called by any number of threads at once.
  void (*run)(struct pks__effort *effort);
  struct pks__effort *next;  ///< the crew's
  uint32_t wanted;           ///< the crew's: how many more may join
  uint32_t helping;          ///< the crew's: how many are in `run`
} pks__effort;

typedef struct pks__crew pks__crew;

/// A crew of up to `thread_count` threads, started when they are first called; what cannot be started does not help.
PKS_NODISCARD pks__crew *pks__crew_create(uint32_t thread_count);
void pks__crew_destroy(pks__crew *crew);  ///< no effort may be under way; NULL is fine
uint32_t pks__crew_thread_count(const pks__crew *crew);
/// Lets up to `wanted` idle threads join, now or until `dismiss`. Allocates nothing once the threads run.
void pks__crew_call(pks__crew *crew, pks__effort *effort, uint32_t wanted);
/// Lets no more threads join; returns when those that did have left.
void pks__crew_dismiss(pks__crew *crew, pks__effort *effort);

#endif
