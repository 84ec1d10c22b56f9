/* SPDX-License-Identifier: Apache-2.0 */
#define PITCH 32
