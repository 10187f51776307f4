/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers of Windows' versions, which sources compare with _WIN32_WINNT and NTDDI_VERSION. Both are
 * those of Windows Server 2022, unless the source has chosen.
 */
#ifndef PLX_WIN_SDKDDKVER_H
#define PLX_WIN_SDKDDKVER_H

#define _WIN32_WINNT_WS03         0x0502
#define _WIN32_WINNT_VISTA        0x0600
#define _WIN32_WINNT_WS08         0x0600
#define _WIN32_WINNT_WIN7         0x0601
#define _WIN32_WINNT_WIN8         0x0602
#define _WIN32_WINNT_WINBLUE      0x0603
#define _WIN32_WINNT_WINTHRESHOLD 0x0A00
#define _WIN32_WINNT_WIN10        0x0A00

#define NTDDI_WS03         0x05020000
#define NTDDI_VISTA        0x06000000
#define NTDDI_LONGHORN     0x06000000
#define NTDDI_WS08         0x06000100
#define NTDDI_WIN7         0x06010000
#define NTDDI_WIN8         0x06020000
#define NTDDI_WINBLUE      0x06030000
#define NTDDI_WINTHRESHOLD 0x0A000000
#define NTDDI_WIN10        0x0A000000
#define NTDDI_WIN10_TH2    0x0A000001
#define NTDDI_WIN10_RS1    0x0A000002
#define NTDDI_WIN10_RS2    0x0A000003
#define NTDDI_WIN10_RS3    0x0A000004
#define NTDDI_WIN10_RS4    0x0A000005
#define NTDDI_WIN10_RS5    0x0A000006
#define NTDDI_WIN10_19H1   0x0A000007
#define NTDDI_WIN10_VB     0x0A000008
#define NTDDI_WIN10_MN     0x0A000009
#define NTDDI_WIN10_FE     0x0A00000A
#define NTDDI_WIN10_CO     0x0A00000B
#define NTDDI_WIN10_NI     0x0A00000C

#define OSVERSION_MASK  0xFFFF0000
#define SPVERSION_MASK  0x0000FF00
#define SUBVERSION_MASK 0x000000FF
#define OSVER(version)  ((version)&OSVERSION_MASK)
#define SPVER(version)  (((version)&SPVERSION_MASK) >> 8)
#define SUBVER(version) ((version)&SUBVERSION_MASK)

#ifndef _WIN32_WINNT
#define _WIN32_WINNT _WIN32_WINNT_WIN10
#endif
#ifndef WINVER
#define WINVER _WIN32_WINNT
#endif
#ifndef NTDDI_VERSION
#define NTDDI_VERSION NTDDI_WIN10_FE
#endif

#endif
