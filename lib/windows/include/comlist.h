/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Declares an interface from a list of its methods: an abstract class in C++; in C a table of
 * functions, with an inline function to call each method. A list is a macro of three parameters,
 * list(M0, M, I). In the order of the table it contains M0(I, type, name) for a method without
 * parameters and M(I, type, name, (parameters), (names of parameters)) for one with parameters. A
 * derived interface has a list of its own methods and one of all, with those of its base first.
 * Both forms have the same binary layout: an object's first word is the address of its table, and
 * the object is the first argument.
 */
#ifndef PLX_WIN_COMLIST_H
#define PLX_WIN_COMLIST_H

#include "windows.h"

#define STDMETHODCALLTYPE
#define PLX_COM_BARE(...) __VA_ARGS__

/* The type of a parameter that returns an interface. C programs pass the address of a pointer to
 * any interface without a cast: Windows only warns, but gcc 14 and later report an error. So in C
 * the parameter is a pointer to anything, which is passed the same way. C code that implements an
 * interface, and so fills a table of functions, defines PLX_COM_IMPLEMENTS before the first
 * include. C++ requires the cast. */
#if defined(__cplusplus) || defined(PLX_COM_IMPLEMENTS)
#define PLX_COM_OUT void **
#else
#define PLX_COM_OUT void *
#endif

#if defined(__cplusplus) && !defined(CINTERFACE)

#define PLX_COM_VIRTUAL0(I, type, name)             virtual type STDMETHODCALLTYPE name() = 0;
#define PLX_COM_VIRTUAL(I, type, name, params, use) virtual type STDMETHODCALLTYPE name params = 0;

#define PLX_COM_ROOT(I, list)                              \
	struct I {                                         \
		list(PLX_COM_VIRTUAL0, PLX_COM_VIRTUAL, I) \
	};
#define PLX_COM_INTERFACE(I, base, own, all)              \
	struct I : public base {                          \
		own(PLX_COM_VIRTUAL0, PLX_COM_VIRTUAL, I) \
	};

#else

#define CONST_VTBL const

#define PLX_COM_SLOT0(I, type, name) type(STDMETHODCALLTYPE *name)(I * This);
#define PLX_COM_SLOT(I, type, name, params, use) \
	type(STDMETHODCALLTYPE *name)(I * This, PLX_COM_BARE params);

/* IND2Adapter_Query(adapter, ...): as COBJMACROS on Windows, but typed. */
#define PLX_COM_CALL0(I, type, name)             \
	static inline type I##_##name(I *This)   \
	{                                        \
		return This->lpVtbl->name(This); \
	}
#define PLX_COM_CALL(I, type, name, params, use)                    \
	static inline type I##_##name(I *This, PLX_COM_BARE params) \
	{                                                           \
		return This->lpVtbl->name(This, PLX_COM_BARE use);  \
	}

#define PLX_COM_ROOT(I, list)                        \
	typedef struct I I;                          \
	typedef struct I##Vtbl {                     \
		list(PLX_COM_SLOT0, PLX_COM_SLOT, I) \
	} I##Vtbl;                                   \
	struct I {                                   \
		CONST_VTBL I##Vtbl *lpVtbl;          \
	};                                           \
	list(PLX_COM_CALL0, PLX_COM_CALL, I)
#define PLX_COM_INTERFACE(I, base, own, all) PLX_COM_ROOT(I, all)

#endif

#define PLX_COM_IUNKNOWN(M0, M, I)                                                             \
	M(I, HRESULT, QueryInterface, (REFIID riid, PLX_COM_OUT ppvObject), (riid, ppvObject)) \
	M0(I, ULONG, AddRef)                                                                   \
	M0(I, ULONG, Release)

#define PLX_COM_ICLASSFACTORY(M0, M, I)                                                           \
	M(I, HRESULT, CreateInstance, (IUnknown * pUnkOuter, REFIID riid, PLX_COM_OUT ppvObject), \
	  (pUnkOuter, riid, ppvObject))                                                           \
	M(I, HRESULT, LockServer, (BOOL fLock), (fLock))

#define PLX_COM_ICLASSFACTORY_ALL(M0, M, I) \
	PLX_COM_IUNKNOWN(M0, M, I)          \
	PLX_COM_ICLASSFACTORY(M0, M, I)

PLX_COM_ROOT(IUnknown, PLX_COM_IUNKNOWN)
PLX_COM_INTERFACE(IClassFactory, IUnknown, PLX_COM_ICLASSFACTORY, PLX_COM_ICLASSFACTORY_ALL)

typedef IUnknown *LPUNKNOWN;
typedef IClassFactory *LPCLASSFACTORY;

#endif
