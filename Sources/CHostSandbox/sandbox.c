#define _GNU_SOURCE

#include "CHostSandbox.h"

#include <errno.h>

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

  #include <fcntl.h>
  #include <linux/audit.h>
  #include <linux/filter.h>
  #include <linux/seccomp.h>
  #include <sched.h>
  #include <stddef.h>
  #include <stdint.h>
  #include <sys/prctl.h>
  #include <sys/stat.h>
  #include <sys/syscall.h>
  #include <unistd.h>

// The structures and numbers of Landlock, which headers of older systems lack: linux/landlock.h.

typedef struct ruleset_attr {
  uint64_t handled_access_fs;
  uint64_t handled_access_net;
  uint64_t scoped;
} ruleset_attr;

typedef struct __attribute__((packed)) path_beneath_attr {
  uint64_t allowed_access;
  int32_t parent_fd;
} path_beneath_attr;

enum {
  call_create_ruleset = 444,
  call_add_rule = 445,
  call_restrict_self = 446,
  create_ruleset_version = 1,
  rule_path_beneath = 1,
};

enum {
  access_execute = 1 << 0,
  access_write_file = 1 << 1,
  access_read_file = 1 << 2,
  access_read_folder = 1 << 3,
  access_first_version = (1 << 13) - 1,
  access_make_char = 1 << 6,
  access_make_socket = 1 << 9,
  access_make_block = 1 << 11,
  access_refer = 1 << 13,
  access_truncate = 1 << 14,
  access_ioctl_device = 1 << 15,
};

int pkhs_landlock_version(void) {
  long version = syscall(call_create_ruleset, NULL, 0, create_ruleset_version);
  // Version 1 refuses all renames from one folder to another, which stores need.
  return version >= 2 ? (int)version : 0;
}

/// The accesses to files that a version of Landlock can refuse.
static uint64_t handled_files(int version) {
  uint64_t accesses = access_first_version | access_refer;
  if (version >= 3) accesses |= access_truncate;
  if (version >= 5) accesses |= access_ioctl_device;
  return accesses;
}

static int permit(int ruleset, const char *path, uint64_t accesses) {
  int file = open(path, O_PATH | O_CLOEXEC);
  if (file < 0) return errno == ENOENT ? 0 : errno;
  struct stat status;
  int result = fstat(file, &status) == 0 ? 0 : errno;
  if (result == 0) {
    // Rights to folders are invalid for other files.
    uint64_t for_files = access_execute | access_write_file | access_read_file | access_truncate | access_ioctl_device;
    path_beneath_attr rule = {S_ISDIR(status.st_mode) ? accesses : accesses & for_files, file};
    if (syscall(call_add_rule, ruleset, rule_path_beneath, &rule, 0) != 0) result = errno;
  }
  close(file);
  return result;
}

static int permit_all(int ruleset, const char *const *paths, uint64_t accesses) {
  int result = 0;
  for (; *paths != NULL && result == 0; paths++) result = permit(ruleset, *paths, accesses);
  return result;
}

static int forgo_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno; }

int pkhs_confine_files(const char *const *readable, const char *const *writable) {
  int version = pkhs_landlock_version();
  if (version == 0) return ENOSYS;
  // All of TCP from version 4; signals and abstract sockets of other processes from version 6.
  ruleset_attr attributes = {handled_files(version), version >= 4 ? 3 : 0, version >= 6 ? 3 : 0};
  size_t byte_count = version >= 6 ? sizeof(attributes) : version >= 4 ? 16 : 8;
  int ruleset = (int)syscall(call_create_ruleset, &attributes, byte_count, 0);
  if (ruleset < 0) return errno;
  uint64_t reading = access_execute | access_read_file | access_read_folder;
  uint64_t devices = access_make_char | access_make_block | access_make_socket | access_ioctl_device;
  int result = permit_all(ruleset, readable, reading);
  if (result == 0)
    result = permit_all(ruleset, writable, attributes.handled_access_fs & ~devices & ~(uint64_t)access_execute);
  if (result == 0) result = forgo_privileges();
  if (result == 0 && syscall(call_restrict_self, ruleset, 0) != 0) result = errno;
  close(ruleset);
  return result;
}

// MARK: - System calls

  #if defined(__x86_64__)
enum { architecture = (int)AUDIT_ARCH_X86_64 };
  #else
enum { architecture = (int)AUDIT_ARCH_AARCH64 };
  #endif

/// Calls that a reader of files does not need, and that lead out of the process.
static const int refused_calls[] = {
  SYS_socket,
  SYS_socketpair,
  SYS_connect,
  SYS_bind,
  SYS_listen,
  SYS_accept,
  SYS_accept4,
  SYS_execve,
  SYS_execveat,
  SYS_ptrace,
  SYS_process_vm_readv,
  SYS_process_vm_writev,
  SYS_kill,
  SYS_tkill,
  SYS_rt_sigqueueinfo,
  SYS_rt_tgsigqueueinfo,
  SYS_pidfd_send_signal,
  // Landlock refuses this only from version 3.
  SYS_truncate,
  SYS_mount,
  SYS_umount2,
  SYS_open_tree,
  SYS_move_mount,
  SYS_fsopen,
  SYS_fsmount,
  SYS_fspick,
  SYS_pivot_root,
  SYS_chroot,
  SYS_setns,
  SYS_unshare,
  SYS_bpf,
  SYS_perf_event_open,
  SYS_userfaultfd,
  SYS_io_uring_setup,
  SYS_keyctl,
  SYS_add_key,
  SYS_request_key,
  SYS_open_by_handle_at,
  SYS_init_module,
  SYS_finit_module,
  SYS_delete_module,
  SYS_kexec_load,
  SYS_kexec_file_load,
  SYS_reboot,
  SYS_swapon,
  SYS_swapoff,
  SYS_acct,
  SYS_settimeofday,
  SYS_clock_settime,
  SYS_personality,
  #if defined(__x86_64__)
  SYS_fork,
  SYS_vfork,
  SYS_ioperm,
  SYS_iopl,
  #endif
};

enum { refused_count = sizeof(refused_calls) / sizeof(refused_calls[0]) };

bool pkhs_has_seccomp(void) {
  uint32_t action = SECCOMP_RET_ERRNO;
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

static struct sock_filter load(size_t offset) {
  return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

static struct sock_filter answer(uint32_t action) { return (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action); }

static struct sock_filter if_equal(uint32_t value, uint8_t yes, uint8_t no) {
  return (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no);
}

/// Appends a refusal of a call whose first argument is another process.
static unsigned short limit_to_process(
  struct sock_filter *program, unsigned short length, uint32_t call, uint32_t process
) {
  program[length++] = if_equal(call, 0, 4);
  program[length++] = load(offsetof(struct seccomp_data, args));
  program[length++] = if_equal(process, 1, 0);
  program[length++] = answer(SECCOMP_RET_ERRNO | EPERM);
  program[length++] = answer(SECCOMP_RET_ALLOW);
  return length;
}

int pkhs_confine_calls(bool all_threads) {
  struct sock_filter program[2 * refused_count + 30];
  unsigned short length = 0;
  // Calls of another architecture have other numbers.
  program[length++] = load(offsetof(struct seccomp_data, arch));
  program[length++] = if_equal((uint32_t)architecture, 1, 0);
  program[length++] = answer(SECCOMP_RET_KILL_PROCESS);
  program[length++] = load(offsetof(struct seccomp_data, nr));
  #if defined(__x86_64__)
  // The calls of x32.
  program[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
  program[length++] = answer(SECCOMP_RET_KILL_PROCESS);
  #endif
  for (int index = 0; index < refused_count; index++) {
    program[length++] = if_equal((uint32_t)refused_calls[index], 0, 1);
    program[length++] = answer(SECCOMP_RET_ERRNO | EPERM);
  }
  // The C library ends the process by tgkill, and sets its own limits by process 0.
  length = limit_to_process(program, length, SYS_tgkill, (uint32_t)getpid());
  length = limit_to_process(program, length, SYS_prlimit64, 0);
  // The flags of clone3 are in memory, which a filter cannot read. Without clone3, the C library uses clone.
  program[length++] = if_equal(SYS_clone3, 0, 1);
  program[length++] = answer(SECCOMP_RET_ERRNO | ENOSYS);
  // Threads are permitted, processes are not.
  program[length++] = if_equal(SYS_clone, 0, 3);
  program[length++] = load(offsetof(struct seccomp_data, args));
  program[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0);
  program[length++] = answer(SECCOMP_RET_ERRNO | EPERM);
  program[length++] = answer(SECCOMP_RET_ALLOW);
  struct sock_fprog filter = {length, program};
  int result = forgo_privileges();
  if (result != 0) return result;
  unsigned flags = all_threads ? SECCOMP_FILTER_FLAG_TSYNC : 0;
  long outcome = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
  // With TSYNC, a positive number is a thread that could not be confined.
  return outcome == 0 ? 0 : outcome < 0 ? errno : EBUSY;
}

#else

int pkhs_landlock_version(void) { return 0; }

int pkhs_confine_files(const char *const *readable, const char *const *writable) {
  (void)readable;
  (void)writable;
  return ENOSYS;
}

bool pkhs_has_seccomp(void) { return false; }

int pkhs_confine_calls(bool all_threads) {
  (void)all_threads;
  return ENOSYS;
}

#endif
