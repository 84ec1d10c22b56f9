/* SPDX-License-Identifier: Apache-2.0 */
/* The template of a space that is counted, not run. */
