/* SPDX-License-Identifier: MIT
 * SANITIZED is 1 in a build with a sanitizer that replaces the allocator: memory cannot be counted or protected there.
 */
#ifndef POSENC_COMMON_SANITIZER_H
#define POSENC_COMMON_SANITIZER_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
