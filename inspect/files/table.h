/* SPDX-License-Identifier: MIT */
/* Tables in files from any source. The contents of a file are not trusted, and only requested rows are in memory. */
#ifndef POSENC_INSPECT_FILES_TABLE_H
#define POSENC_INSPECT_FILES_TABLE_H

#include "inspect/files/stored.h"

typedef struct table_file table_file;

/* Arrays in the memory of another process are described in an environment variable, for which that process leaves this
   one a descriptor of its memory, /proc/self/mem opened for reading. Arrays of Python are read in this way, without a
   file or a copy. Each line is an array: NAME DESCRIPTOR ADDRESS DTYPE LENGTH:STRIDE... Strides are in bytes
   and may be negative or 0; that of the last axis is one element. */
#define MEMORY_VARIABLE "POSENC_ARRAYS"

typedef struct memory_array {
  int descriptor;
  uint64_t address;  /* address of the first element */
  size_t axis_count; /* the last axis has the elements of a row */
  int64_t axes[STORED_AXES], strides[STORED_AXES];
  int64_t apart; /* of joined tables: bytes from a row of the first to that of the second */
} memory_array;

/* Reads a line as a table or an array. Returns false and sets `why` if it is malformed. */
bool memory_array_find(const char *line, table_half half, stored *found, memory_array *place, fault *why);

/* Opens a .npy, a safetensors or a GGUF file, as its content shows, or an array in memory if `path` is its
   name. tensor: a name in a safetensors or a GGUF file, or null for the only tensor that can be a table; ignored for
   .npy; `half`: see stored.h. Returns null and sets `why` if the table cannot be read. If the file is cut while it is
   open, the process ends with a message and exit status 2. */
table_file *table_open_half(const char *path, const char *tensor, table_half half, fault *why);

/* table_open_half for a file's bytes in memory, which must stay valid until table_close. */
table_file *table_open_memory(const void *bytes, size_t size, const char *tensor, table_half half, fault *why);

/* Returns a table of these elements, row by row, in this machine's byte order. It keeps and frees them. */
table_file *table_of_elements(posenc_dtype dtype, int64_t rows, int64_t dim, void *elements);

/* Closes a table. `t` may be null. */
void table_close(table_file *t);

/* Divides the last axis of an array into two, the first of `parts`. Returns false unless that can be done: parts are
   equal, and there are not too many axes, nor Fortran's order. */
bool table_split(table_file *t, int64_t parts);

/* Keeps these rows alone. Returns false for Fortran's order, and for two stacked tables. */
bool table_take_rows(table_file *t, int64_t first, int64_t rows);

/* Leaves out columns that are copies of others: [c c s s] and [s s c c], the same with blocks [a a b b] of axes of one
   size in each half, each column doubled in halves of cosines and sines, and rotation matrices [c -s s c] of each pair.
   *layout: that of the columns that are left; *blocks: the number of blocks in a half that were there twice, 0 if none
   were. Returns false if the table is none of these. */
bool table_fold(table_file *t, posenc_layout *layout, int *blocks);

/* If table_fold has found that a few elements are not the copies that they are in other rows, the words for the first
   one; else "". */
const char *table_uncopied(const table_file *t);

const stored *table_stored(const table_file *t);

/* Returns "npy", "safetensors", "gguf" or "memory". */
const char *table_format(const table_file *t);

/* Returns the tensor's name; null in a file without names. */
const char *table_tensor(const table_file *t);

/* Whether the metadata of a safetensors file have the key, and its value, a new string; null if it is no text. */
bool table_metadata(const table_file *t, const char *key, char **value);

/* Finds the positions of a safetensors file, a new array; null for other files. */
bool table_positions(const table_file *t, double **positions, int64_t *count, fault *why);

/* Copies rows [row, row + rows), packed, row by row, in this machine's byte order. */
void table_rows(table_file *t, int64_t row, int64_t rows, void *out);

/* The same, as doubles. */
void table_values(table_file *t, int64_t row, int64_t rows, double *out);

/* ---- vectors of arrays ----------------------------------------------------------------------------------- */

/* An array x, and the result of add or rope: the letters of their axes, and their vectors, which are rows of the last
   axis. */

/* The letters of an array's axes: b for batches, any number of times; l for positions; h for heads; and d, the last,
   for the columns of a vector. */
enum { AXIS_POSITIONS = 'l', AXIS_COLUMNS = 'd', AXIS_HEADS = 'h' };

/* Returns the usual letters for this number of axes; null if there are none. */
const char *axes_usual(posenc_op op, size_t count);

/* Whether the letters can be the axes of this array. */
bool axes_fit(const char *letters, const stored *at, fault *why);

/* Returns the length of the axis of positions. */
int64_t axes_length(const char *letters, const stored *at);

/* Returns a row's index on the axis of positions. Unless null, `indices` gets its index on each axis but the last. */
int64_t axes_index(const char *letters, const stored *at, int64_t row, int64_t *indices);

/* Whether two arrays have the same axes and dtype. */
bool axes_agree(const stored *a, const stored *b);

typedef struct applied_arrays {
  table_file *x, *out; /* with the same axes and dtype */
  const char *axes;
} applied_arrays;

/* A vector of x and one of the result, as doubles. */
typedef struct vectors {
  const applied_arrays *from;
  const stored *at; /* the form of both arrays */
  unsigned char *raw;
  double *x, *out;
} vectors;

void vectors_open(vectors *v, const applied_arrays *from);
void vectors_close(vectors *v);

/* Reads the vectors of a row. */
void vectors_read(vectors *v, int64_t row);

/* Returns the narrowest dtype whose numbers all results are: in a wider one, they may have been rounded to it. */
posenc_dtype vectors_held(vectors *v);

/* Returns the row of the n-th of `count` samples, spread evenly from the first row to the last; count <= rows. */
int64_t vectors_sample(const vectors *v, int64_t n, int64_t count);

/* ---- differences ----------------------------------------------------------------------------------------- */

/* The differences of two tables or arrays in files. */

/* An element of both tables. */
typedef struct difference_at {
  int64_t row, column;
  double a, b;
  double size; /* |a - b|; infinity if only one is NaN or infinite */
  double ulp;  /* the size in units of the dtype with fewer bits, at the larger of the two */
} difference_at;

typedef struct difference {
  int64_t rows;   /* rows that both have; all other members are about these */
  int64_t values; /* elements that differ in value; 0 equals -0, and NaN equals NaN */
  int64_t bits;   /* elements that differ in bits; -1 if the dtypes differ */
  /* The first difference of values, otherwise of bits; the largest, and the largest in ulp. */
  difference_at first, largest, most_ulp;
  /* Column columns[c] of a is column c of b in all values, to the last bit. Null if the order is the same, or none is
     known. */
  const int64_t *columns;
  /* The layouts of a and b in that case; otherwise those for which the largest difference of the first rows is least.
     Null if there are none. */
  const char *from, *to;
  double least; /* that difference; 0 if there are `columns` */
} difference;

/* Returns null, or the reason why the tables cannot be compared: different or too many columns. */
const char *difference_find(table_file *a, table_file *b, void (*progress)(double done, double total),
                            difference *found);
void difference_free(difference *d);

#endif
