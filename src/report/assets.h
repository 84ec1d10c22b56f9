/* SPDX-License-Identifier: Apache-2.0 */
/* report.css, picture.css and report.js, embedded when the program is built: see assets.awk. */
#ifndef AT_REPORT_ASSETS_H
#define AT_REPORT_ASSETS_H

#include <stddef.h>

extern const char at_asset_style[], at_asset_picture[], at_asset_script[];
extern const size_t at_asset_style_size, at_asset_picture_size, at_asset_script_size;

#endif
