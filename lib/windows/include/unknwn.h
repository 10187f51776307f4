/* SPDX-License-Identifier: BSD-3-Clause
 *
 * IUnknown and the macros for declaring interfaces.
 * IUnknown has three virtual functions and no destructor: a destructor would take two slots of the
 * table, and objects of this library are tables in C.
 * Start with comlist.h, which declares an interface from a list of methods.
 */
#ifndef PLX_WIN_UNKNWN_H
#define PLX_WIN_UNKNWN_H

#include "windows.h"
#include "comlist.h"

#define STDMETHODVCALLTYPE
#define STDAPICALLTYPE
#define STDAPI                   EXTERN_C HRESULT STDAPICALLTYPE
#define STDAPI_(type)            EXTERN_C type STDAPICALLTYPE
#define STDMETHODIMP             HRESULT STDMETHODCALLTYPE
#define STDMETHODIMP_(type)      type STDMETHODCALLTYPE
#define IFACEMETHODIMP           STDMETHODIMP
#define IFACEMETHODIMP_(type)    STDMETHODIMP_(type)
#define IFACEMETHOD(name)        STDMETHOD(name)
#define IFACEMETHOD_(type, name) STDMETHOD_(type, name)

/* A word that Linux has members of the name of (linux/usbdevice_fs.h): only when it is asked for.
 */
#ifdef PLX_WIN_ALL_WORDS
#define interface struct
#endif

/* For interfaces declared by a program itself. */
#if defined(__cplusplus) && !defined(CINTERFACE)
#define STDMETHOD(name)        virtual HRESULT STDMETHODCALLTYPE name
#define STDMETHOD_(type, name) virtual type STDMETHODCALLTYPE name
#define PURE                   = 0
#define THIS_
#define THIS                           void
#define DECLARE_INTERFACE(name)        struct name
#define DECLARE_INTERFACE_(name, base) struct name : public base
#else
#define STDMETHOD(name)        HRESULT(STDMETHODCALLTYPE *name)
#define STDMETHOD_(type, name) type(STDMETHODCALLTYPE *name)
#define PURE
#define THIS_ INTERFACE *This,
#define THIS  INTERFACE *This
#define DECLARE_INTERFACE(name)                \
	typedef struct name name;              \
	typedef struct name##Vtbl name##Vtbl;  \
	struct name {                          \
		CONST_VTBL name##Vtbl *lpVtbl; \
	};                                     \
	struct name##Vtbl
#define DECLARE_INTERFACE_(name, base) DECLARE_INTERFACE(name)
#endif

/* clang-format off */
DEFINE_GUID(IID_IUnknown,
	0x00000000, 0x0000, 0x0000, 0xC0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x46);
DEFINE_GUID(IID_IClassFactory,
	0x00000001, 0x0000, 0x0000, 0xC0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x46);
DEFINE_GUID(GUID_NULL,
	0x00000000, 0x0000, 0x0000, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00);
/* clang-format on */
#define IID_NULL   GUID_NULL
#define CLSID_NULL GUID_NULL

/* The two entry points of a provider's library, as GetProcAddress() finds them. */
typedef HRESULT(STDAPICALLTYPE *LPFNGETCLASSOBJECT)(REFCLSID, REFIID, PLX_COM_OUT);
typedef HRESULT(STDAPICALLTYPE *LPFNCANUNLOADNOW)(void);

PLX_WIN_BEGIN
HRESULT STDAPICALLTYPE DllGetClassObject(REFCLSID clsid, REFIID iid, PLX_COM_OUT object)
	__attribute__((__visibility__("default")));
HRESULT STDAPICALLTYPE DllCanUnloadNow(void) __attribute__((__visibility__("default")));
PLX_WIN_END

#endif
