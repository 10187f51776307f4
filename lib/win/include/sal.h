/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Microsoft's source annotations, both generations, as nothing: they speak to their analyser.
 * The old ones (__in, __out) are names that the C++ library and glibc give to variables, so the
 * headers that do are included before. What is not listed here is not defined.
 */
#ifndef PLX_WIN_SAL_H
#define PLX_WIN_SAL_H

#include "stdfirst.h"

/* The old generation. */
#define __in
#define __in_opt
#define __in_bcount(n)
#define __in_bcount_opt(n)
#define __in_ecount(n)
#define __in_ecount_opt(n)
#define __in_z
#define __in_z_opt
#define __out
#define __out_opt
#define __out_bcount(n)
#define __out_bcount_opt(n)
#define __out_bcount_part(n, used)
#define __out_bcount_part_opt(n, used)
#define __out_bcount_full(n)
#define __out_ecount(n)
#define __out_ecount_opt(n)
#define __out_ecount_part(n, used)
#define __out_ecount_part_opt(n, used)
#define __out_ecount_full(n)
#define __out_ecount_z(n)
#define __inout
#define __inout_opt
#define __inout_bcount(n)
#define __inout_bcount_opt(n)
#define __inout_bcount_part(n, used)
#define __inout_ecount(n)
#define __inout_ecount_opt(n)
#define __inout_ecount_part(n, used)
#define __deref_in
#define __deref_in_opt
#define __deref_out
#define __deref_out_opt
#define __deref_out_bcount(n)
#define __deref_out_ecount(n)
#define __deref_opt_out
#define __deref_opt_out_opt
#define __deref_inout
#define __deref_inout_opt
#define __checkReturn
#define __callback
#define __reserved
#define __format_string
#define __drv_aliasesMem
#define __drv_freesMem(kind)
#define __analysis_assume(e) ((void)0)
#define __fallthrough        __attribute__((__fallthrough__))

/* The new generation. */
#define _In_
#define _In_opt_
#define _In_z_
#define _In_opt_z_
#define _In_reads_(n)
#define _In_reads_opt_(n)
#define _In_reads_z_(n)
#define _In_reads_bytes_(n)
#define _In_reads_bytes_opt_(n)
#define _In_range_(low, high)
#define _Out_
#define _Out_opt_
#define _Out_writes_(n)
#define _Out_writes_opt_(n)
#define _Out_writes_z_(n)
#define _Out_writes_all_(n)
#define _Out_writes_all_opt_(n)
#define _Out_writes_to_(n, used)
#define _Out_writes_to_opt_(n, used)
#define _Out_writes_bytes_(n)
#define _Out_writes_bytes_opt_(n)
#define _Out_writes_bytes_all_(n)
#define _Out_writes_bytes_to_(n, used)
#define _Out_writes_bytes_to_opt_(n, used)
#define _Outptr_
#define _Outptr_opt_
#define _Outptr_result_maybenull_
#define _Outptr_opt_result_maybenull_
#define _Outptr_result_nullonfailure_
#define _Outptr_result_bytebuffer_(n)
#define _Outptr_result_buffer_(n)
#define _COM_Outptr_
#define _COM_Outptr_opt_
#define _Inout_
#define _Inout_opt_
#define _Inout_z_
#define _Inout_updates_(n)
#define _Inout_updates_opt_(n)
#define _Inout_updates_all_(n)
#define _Inout_updates_to_(n, used)
#define _Inout_updates_bytes_(n)
#define _Inout_updates_bytes_opt_(n)
#define _Inout_updates_bytes_to_(n, used)
#define _Deref_out_
#define _Ret_maybenull_
#define _Ret_notnull_
#define _Ret_z_
#define _Ret_range_(low, high)
#define _Field_size_(n)
#define _Field_size_opt_(n)
#define _Field_size_bytes_(n)
#define _Field_size_bytes_opt_(n)
#define _Field_range_(low, high)
#define _Field_z_
#define _Struct_size_bytes_(n)
#define _Null_terminated_
#define _NullNull_terminated_
#define _Maybenull_
#define _Notnull_
#define _Pre_maybenull_
#define _Pre_notnull_
#define _Pre_valid_
#define _Pre_satisfies_(e)
#define _Post_invalid_
#define _Post_ptr_invalid_
#define _Post_satisfies_(e)
#define _Post_valid_
#define _Post_writable_byte_size_(n)
#define _Post_equals_last_error_
#define _Reserved_
#define _Const_
#define _Check_return_
#define _Must_inspect_result_
#define _Success_(e)
#define _On_failure_(a)
#define _When_(e, a)
#define _At_(target, a)
#define _Always_(a)
#define _Use_decl_annotations_
#define _Printf_format_string_
#define _Scanf_format_string_
#define _Frees_ptr_
#define _Frees_ptr_opt_
#define _Function_class_(name)
#define _Interlocked_operand_
#define _Guarded_by_(lock)
#define _Requires_lock_held_(lock)
#define _Requires_lock_not_held_(lock)
#define _Acquires_lock_(lock)
#define _Releases_lock_(lock)
#define _Acquires_exclusive_lock_(lock)
#define _Acquires_shared_lock_(lock)
#define _Releases_exclusive_lock_(lock)
#define _Releases_shared_lock_(lock)
#define _IRQL_requires_max_(level)
#define _Analysis_noreturn_
#define _Analysis_assume_(e) ((void)0)

#endif
