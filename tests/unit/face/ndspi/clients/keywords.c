/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Words of Microsoft's compiler, with pollux-msvc.h alone: no header of the system stands before
 * them, as when a compiler wrapper includes it in front of a file.
 */
#include <pollux-msvc.h>

#ifdef __GLIBC__
#error "pollux-msvc.h includes a header of the system"
#endif

struct __declspec(align(32)) aligned {
	__int8 a;
	__int16 b;
	__int32 c;
	__int64 d;
};

__pragma(pack(push, 1)) struct packed {
	__int8 a;
	__int64 b;
};
__pragma(pack(pop))

	static __forceinline int __cdecl twice(int n)
{
	__assume(n > 0);
	return 2 * n;
}

__declspec(noinline) static int __stdcall thrice(int n)
{
	__noop("nothing of this is called", n);
	return 3 * n;
}

typedef int(__fastcall *pointer)(int);
extern __declspec(dllexport) int exported(int __unaligned *at);
__declspec(selectany) int chosen = 5;
static __declspec(thread) int own;

int
exported(int __unaligned *at)
{
	return *at;
}

int
main(void)
{
	pointer call = thrice;

	own = sizeof(__FUNCSIG__) > 1 ? 7 : 0;
	return sizeof(struct aligned) == 32 && sizeof(struct packed) == 9 && twice(4) == 8 &&
			       call(4) == 12 && exported(&chosen) == 5 && own == 7
		       ? 0
		       : 1;
}
