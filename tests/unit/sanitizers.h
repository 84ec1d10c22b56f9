/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the address sanitiser is on: it replaces the allocator, so some tests are skipped. */
#ifndef AT_TESTS_UNIT_SANITIZERS_H
#define AT_TESTS_UNIT_SANITIZERS_H

/* gcc defines this macro; clang has a feature instead. */
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
