/// Determines the result of each call by stop points, faults and ignored syncs. Also writes the trace.
#include "simulated_disk.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// MARK: Entering and leaving a call

static bool rule_matches(
  const sim__rule *rule, sim_call call, bool mutating, const char *path, const char *other_path
) {
  bool sync = call == SIM_CALL_SYNC_FILE || call == SIM_CALL_SYNC_FOLDER;
  bool kind = rule->call == call || rule->call == SIM_CALL_ANY || (rule->call == SIM_CALL_MUTATING && mutating)
    || (rule->call == SIM_CALL_SYNC && sync);
  if (!kind || rule->pattern == NULL) { return kind; }
  return fnmatch(rule->pattern, path, 0) == 0 || (other_path != NULL && fnmatch(rule->pattern, other_path, 0) == 0);
}

static sim__verdict apply_rules(
  sim_disk *disk, sim_call call, bool mutating, const char *path, const char *other_path
) {
  sim__verdict verdict = {0};
  size_t kept = 0;
  for (size_t i = 0; i < disk->rule_count; i++) {
    sim__rule rule = disk->rules[i];
    bool expired = false;
    if (rule_matches(&rule, call, mutating, path, other_path)) {
      if (rule.skip > 0) {
        rule.skip--;
      } else {
        expired = !rule.sticky;
        verdict.lies = verdict.lies || (rule.error == 0 && rule.lie == 0);
        if (rule.lie != 0) {
          verdict.lie = rule.lie;
          verdict.seed = rule.seed;
        }
        if (rule.error != 0 && !verdict.injected) { verdict.error = rule.error; }
        verdict.injected = verdict.error != 0;
      }
    }
    if (expired) {
      free(rule.pattern);
    } else {
      disk->rules[kept++] = rule;
    }
  }
  disk->rule_count = kept;
  return verdict;
}

sim__verdict sim__enter_from(
  const void *site, sim__process *process, sim_call call, bool mutating, const char *path, const char *other_path
) {
  sim_disk *disk = process->disk;
  sim__harvest(disk);
  if (disk->stop_left == 0) { disk->frozen = true; }
  if (disk->frozen || process->killed) { return (sim__verdict){.error = EIO}; }
  disk->clock_ns += SIM__CALL_NS;
  disk->calls[SIM_CALL_ANY]++;
  disk->calls[call]++;
  bool sync = call == SIM_CALL_SYNC_FILE || call == SIM_CALL_SYNC_FOLDER;
  disk->calls[SIM_CALL_SYNC] += sync;
  if (mutating) {
    disk->calls[SIM_CALL_MUTATING]++;
    if (disk->stop_left != SIM_NEVER) { disk->stop_left--; }
  }
  sim__verdict verdict = disk->rule_count > 0 ? apply_rules(disk, call, mutating, path, other_path) : (sim__verdict){0};
  if (verdict.injected) { disk->failed_site = site; }
  if (verdict.error == 0 && mutating && !sync && disk->read_only) { verdict.error = EROFS; }
  return verdict;
}

static const char *error_name(int error) {
  switch (error) {
    case 0: return "ok";
    case EACCES: return "EACCES";
    case EAGAIN: return "EAGAIN";
    case EBADF: return "EBADF";
    case EDEADLK: return "EDEADLK";
    case EEXIST: return "EEXIST";
    case EFBIG: return "EFBIG";
    case EINVAL: return "EINVAL";
    case EIO: return "EIO";
    case EISDIR: return "EISDIR";
    case ELOOP: return "ELOOP";
    case EMFILE: return "EMFILE";
    case ENOENT: return "ENOENT";
    case ENOMEM: return "ENOMEM";
    case ENOSPC: return "ENOSPC";
    case ENOTDIR: return "ENOTDIR";
    case ENOTEMPTY: return "ENOTEMPTY";
    case EROFS: return "EROFS";
    default: return "error";
  }
}

int sim__traced(sim__process *process, int error, const char *format, ...) {
  sim_disk *disk = process->disk;
  if (!disk->tracing) { return error; }
  char call[3 * SIM__PATH_MAX];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(call, sizeof call, format, arguments);
  va_end(arguments);
  sim__build(&disk->trace, "%4llu ", (unsigned long long)disk->calls[SIM_CALL_MUTATING]);
  if (process->id != 1) { sim__build(&disk->trace, "[%llu] ", (unsigned long long)process->id); }
  sim__build(&disk->trace, "%s = %s", call, error_name(error));
  if (strcmp(error_name(error), "error") == 0) { sim__build(&disk->trace, " %d", error); }
  sim__build(&disk->trace, "\n");
  return error;
}

// MARK: Stop points and faults

void sim_stop_after(sim_disk *disk, uint64_t count) {
  if (!disk->frozen) { disk->stop_left = count; }
}

bool sim_stopped(const sim_disk *disk) { return disk->stop_left == 0; }
uint64_t sim_operation_count(const sim_disk *disk) { return disk->calls[SIM_CALL_MUTATING]; }
uint64_t sim_call_count(const sim_disk *disk, sim_call call) { return disk->calls[call]; }

static void rule_add(sim_disk *disk, sim__rule rule, const char *pattern) {
  if (pattern != NULL) {
    rule.pattern = sim__allocate(strlen(pattern) + 1);
    memcpy(rule.pattern, pattern, strlen(pattern));
  }
  disk->rules = sim__grow(disk->rules, &disk->rule_capacity, disk->rule_count, sizeof rule);
  disk->rules[disk->rule_count++] = rule;
}

void sim_fail(sim_disk *disk, sim_call call, const char *pattern, uint64_t skip, int error, bool sticky) {
  if (error <= 0) { sim__misuse("a fault without an error"); }
  rule_add(disk, (sim__rule){.call = call, .skip = skip, .error = error, .sticky = sticky}, pattern);
}

void sim_tell_lie(
  sim_disk *disk, sim_lie lie, sim_call call, const char *pattern, uint64_t skip, uint64_t seed, bool sticky
) {
  if (call != SIM_CALL_READ && call != SIM_CALL_MAP && call != SIM_CALL_WRITE) {
    sim__misuse("a lie of a call that tells none");
  }
  rule_add(disk, (sim__rule){.call = call, .skip = skip, .lie = lie, .seed = seed, .sticky = sticky}, pattern);
}

const void *sim_failed_site(const sim_disk *disk) { return disk->failed_site; }

void sim_ignore_sync(sim_disk *disk, uint64_t skip) {
  rule_add(disk, (sim__rule){.call = SIM_CALL_SYNC, .skip = skip}, NULL);
}

void sim_ignore_syncs_of(sim_disk *disk, const char *pattern) {
  rule_add(disk, (sim__rule){.call = SIM_CALL_SYNC, .sticky = true}, pattern);
}

void sim_clear_faults(sim_disk *disk) {
  for (size_t i = 0; i < disk->rule_count; i++) { free(disk->rules[i].pattern); }
  disk->rule_count = 0;
}
