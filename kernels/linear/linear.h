/* What the linear_<weights> ops share. */
#pragma once

/* Columns of a row: its blocks fit a kernel's stack. */
enum { ASSAY_LINEAR_MOST_COLUMNS = 65536 };
