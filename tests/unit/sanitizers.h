/* SPDX-License-Identifier: Apache-2.0 */
/* For tests that cannot run under the address sanitiser, which has its own allocator. */
#ifndef AT_TESTS_UNIT_SANITIZERS_H
#define AT_TESTS_UNIT_SANITIZERS_H

/* gcc defines a macro; clang has a feature test. */
#ifdef __SANITIZE_ADDRESS__
#define WITH_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ADDRESS_SANITIZER 1
#endif
#endif

#ifndef WITH_ADDRESS_SANITIZER
#define WITH_ADDRESS_SANITIZER 0
#endif

#endif
