/* SPDX-License-Identifier: MIT */
/* What the page can do beyond being read: tables that sort, a list of sections. It can be read without. */
#ifndef POSENC_REPORTS_PAGE_SCRIPT_H
#define POSENC_REPORTS_PAGE_SCRIPT_H

/* JavaScript for the end of the page, free of "</". */
extern const char page_script[];

#endif
