/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The filter of system calls, seccomp(2). It names what is forbidden, not what is allowed: which
 * calls DPDK's drivers and the C library make depends on device and version, and a daemon that dies
 * of a harmless call is of no use. config/polluxd.service has a list of what is allowed on top.
 * Start with filter_install().
 */
#include "polluxd.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_ARCH AUDIT_ARCH_PPC64LE
#elif defined(__riscv) && __riscv_xlen == 64
#define OWN_ARCH AUDIT_ARCH_RISCV64
#endif

#ifdef OWN_ARCH

enum {
	X32_BIT = 0x40000000, /* of calls by the x32 convention, which we never make */
};

#define FORBID(number)                                       \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static struct sock_filter filter[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	/* programs */
	FORBID(SYS_execve),
	FORBID(SYS_execveat),
/* other processes; LeakSanitizer looks into its own */
#ifndef __SANITIZE_ADDRESS__
	FORBID(SYS_ptrace),
#endif
	FORBID(SYS_process_vm_readv),
	FORBID(SYS_process_vm_writev),
	FORBID(SYS_kcmp),
	FORBID(SYS_perf_event_open),
	/* namespaces and mounts */
	FORBID(SYS_setns),
	FORBID(SYS_unshare),
	FORBID(SYS_mount),
	FORBID(SYS_umount2),
	FORBID(SYS_pivot_root),
	FORBID(SYS_chroot),
	FORBID(SYS_open_by_handle_at),
	/* users */
	FORBID(SYS_setuid),
	FORBID(SYS_setgid),
	FORBID(SYS_setreuid),
	FORBID(SYS_setregid),
	FORBID(SYS_setresuid),
	FORBID(SYS_setresgid),
	FORBID(SYS_setfsuid),
	FORBID(SYS_setfsgid),
	FORBID(SYS_setgroups),
	/* the kernel, and ways around a filter */
	FORBID(SYS_init_module),
	FORBID(SYS_finit_module),
	FORBID(SYS_delete_module),
	FORBID(SYS_kexec_load),
#ifdef SYS_kexec_file_load
	FORBID(SYS_kexec_file_load),
#endif
	FORBID(SYS_reboot),
	FORBID(SYS_swapon),
	FORBID(SYS_swapoff),
	FORBID(SYS_acct),
	FORBID(SYS_sethostname),
	FORBID(SYS_setdomainname),
	FORBID(SYS_settimeofday),
	FORBID(SYS_clock_settime),
	FORBID(SYS_adjtimex),
	FORBID(SYS_personality),
	FORBID(SYS_add_key),
	FORBID(SYS_request_key),
	FORBID(SYS_keyctl),
	FORBID(SYS_userfaultfd),
#ifdef SYS_io_uring_setup
	FORBID(SYS_io_uring_setup),
#endif
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

bool
filter_install(struct plx_why *why)
{
	struct sock_fprog program = {PLX_COUNT_OF(filter), filter};
	long thread;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return why_set(why, "new privileges cannot be forbidden: %s", strerror(errno));
	thread = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
	if (thread == 0 || (thread < 0 && (errno == ENOSYS || errno == EINVAL)))
		return true; /* a kernel without filters has none */
	if (thread > 0)
		return why_set(why, "thread %ld has a filter of system calls of its own", thread);
	return why_set(why, "system calls cannot be filtered: %s", strerror(errno));
}

#else

bool
filter_install(struct plx_why *why)
{
	(void)why;
	return true; /* the list is not known to be right on this processor */
}

#endif
