/* SPDX-License-Identifier: Apache-2.0 */
/* What a test cannot do under the address sanitiser, which has an allocator of its own. */
#ifndef AT_TESTS_UNIT_SANITIZERS_H
#define AT_TESTS_UNIT_SANITIZERS_H

/* gcc's word for it; clang's is a feature. */
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
