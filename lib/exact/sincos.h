/* SPDX-License-Identifier: MIT */
/*
 * Coefficients of the Taylor polynomials of sin x and cos x: C and OpenCL C at once. x is the difference between an
 * angle and the nearest quarter turn, so |x| <= π/4 + 2^-52. The first terms left out are x^19/19! and x^20/20!, below
 * 2^-63; a kernel on an OpenCL device leaves out two more (impls/opencl/pair.h).
 */
#ifndef POSENC_LIB_EXACT_SINCOS_H
#define POSENC_LIB_EXACT_SINCOS_H

#define ANGLE_TURN 0x1.921fb54442d18p-62 /* 2π / 2^64 */
#define ANGLE_S3 -0x1.5555555555555p-3
#define ANGLE_S5 0x1.1111111111111p-7
#define ANGLE_S7 -0x1.a01a01a01a01ap-13
#define ANGLE_S9 0x1.71de3a556c734p-19
#define ANGLE_S11 -0x1.ae64567f544e4p-26
#define ANGLE_S13 0x1.6124613a86d09p-33
#define ANGLE_S15 -0x1.ae7f3e733b81fp-41
#define ANGLE_S17 0x1.952c77030ad4ap-49
#define ANGLE_C2 -0x1p-1
#define ANGLE_C4 0x1.5555555555555p-5
#define ANGLE_C6 -0x1.6c16c16c16c17p-10
#define ANGLE_C8 0x1.a01a01a01a01ap-16
#define ANGLE_C10 -0x1.27e4fb7789f5cp-22
#define ANGLE_C12 0x1.1eed8eff8d898p-29
#define ANGLE_C14 -0x1.93974a8c07c9dp-37
#define ANGLE_C16 0x1.ae7f3e733b81fp-45
#define ANGLE_C18 -0x1.6827863b97d97p-53

#endif
