// SPDX-License-Identifier: BSD-3-Clause
//
// The headers against what ND2 is, in C++: the same lists as contract.c, and every method called
// through its class on an object that C has made, which tells the slot.
#include <cstdio>
#include <type_traits>

#include <ndsupport.h>
#include <ntstatus.h>

#include "layouts.h"
#include "numbers.h"
#include "recorder.h"
#include "slots.h"

namespace
{

#define STATUS(name, number)                                          \
	static_assert((name) == static_cast<HRESULT>(number), #name); \
	static_assert(std::is_same<decltype(name), HRESULT>::value, #name);
CONTRACT_STATUSES(STATUS)
CONTRACT_OTHER_STATUSES(STATUS)

#define NUMBER(name, number) \
	static_assert(static_cast<uint32_t>(name) == static_cast<uint32_t>(number), #name);
CONTRACT_NUMBERS(NUMBER)

#define SIZE(type, bytes)        static_assert(sizeof(type) == (bytes), #type);
#define AT(type, member, offset) static_assert(offsetof(type, member) == (offset), #member);
CONTRACT_STRUCTS(SIZE, AT)

#define TYPE(type, bytes, sign) \
	static_assert(sizeof(type) == (bytes) && std::is_signed<type>::value == (sign), #type);
CONTRACT_TYPES(TYPE)

static_assert(std::is_same<UINT64, unsigned long long>::value, "UINT64");
static_assert(std::is_same<DWORD, ULONG>::value && std::is_same<DWORD, UINT32>::value, "DWORD");
static_assert(std::is_same<REFIID, const GUID &>::value, "REFIID");

/* No data, and one pointer to a table: no destructor has a slot in it. */
#define CLASS(name, slots)                                    \
	static_assert(sizeof(name) == sizeof(void *), #name); \
	static_assert(std::is_abstract<name>::value, #name);  \
	static_assert(!std::has_virtual_destructor<name>::value, #name);
CONTRACT_TABLES(CLASS)

#define DERIVED(base, name) static_assert(std::is_base_of<base, name>::value, #name)
DERIVED(IUnknown, IND2Provider);
DERIVED(IUnknown, IND2Adapter);
DERIVED(IUnknown, IND2QueuePair);
DERIVED(IUnknown, IND2MemoryWindow);
DERIVED(IUnknown, IND2Overlapped);
DERIVED(IND2Overlapped, IND2CompletionQueue);
DERIVED(IND2Overlapped, IND2SharedReceiveQueue);
DERIVED(IND2Overlapped, IND2MemoryRegion);
DERIVED(IND2Overlapped, IND2Connector);
DERIVED(IND2Overlapped, IND2Listener);
static_assert(!std::is_base_of<IND2Overlapped, IND2QueuePair>::value, "a queue pair pends nothing");

int failures;

void
expect(bool right, const char *what)
{
	if (!right) {
		std::fprintf(stderr, "%s\n", what);
		failures++;
	}
}

/* Call a method with arguments that are all nothing. Its result is in the low 32 bits. */
template <class I, class Base, class Result, class... Args>
uint32_t
called(I *object, Result (Base::*method)(Args...))
{
	return static_cast<uint32_t>(
		(object->*method)(typename std::remove_reference<Args>::type()...));
}

void
methods_are_in_their_slots()
{
#define SLOT(name, method, slot)                                                              \
	expect(called(static_cast<name *>(recorder_object()), &name::method) == 100 + (slot), \
	       #name "::" #method " is not in slot " #slot);                                  \
	expect(recorder_taken() == (slot), #name "::" #method " does not pass the object");
	CONTRACT_SLOTS(SLOT)
}

void
identifiers_are_those_of_the_contract()
{
#define IID_CHECK(name, a, b, c, ...)                          \
	{                                                      \
		const GUID wanted = {a, b, c, {__VA_ARGS__}};  \
		expect(IID_##name == wanted, "IID_" #name);    \
		expect(!(IID_##name != wanted), "IID_" #name); \
	}
	CONTRACT_IIDS(IID_CHECK)
	expect(IID_IND2Adapter != IID_IND2Provider, "all identifiers are equal");
}

} // namespace

int
main()
{
	methods_are_in_their_slots();
	identifiers_are_those_of_the_contract();
	return failures != 0;
}
