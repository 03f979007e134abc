/* deletion_vector.h - which rows of a data file were deleted without writing it anew (delta.md
 * 1.11).
 *
 * An add action may carry the descriptor of a vector; the vector lies in the descriptor itself or
 * in a file next to the data, and is a set of row positions as a 64-bit Roaring bitmap in its
 * portable format. Any doubt about it is an error: a vector read wrongly brings deleted rows back
 * or drops living ones. */
#ifndef TIDELAKE_DELTA_DELETION_VECTOR_H
#define TIDELAKE_DELTA_DELETION_VECTOR_H

#include "delta/delta_internal.h"
#include "types/row_set.h"

typedef struct VectorDamage {
    const char *what;
    size_t      at; /* in the bytes given */
    bool        is_obsolete;
} VectorDamage;

/* The bytes of one vector, from the magic number on. Every position must be below `row_limit`. */
bool  deletion_rows_read(Bytes data, uint64_t row_limit, Arena *arena, RowSet *out,
                         VectorDamage *damage) MUST_CHECK;
Bytes deletion_rows_write(const RowSet *rows, Arena *arena);

/* Z85: five characters for four bytes. */
bool z85_decode(Str text, Arena *arena, Bytes *out) MUST_CHECK;
Str  z85_encode(Bytes bytes, Arena *arena); /* bytes of NUL make the last group four */
/* The checksum of zlib and PNG. */
uint32_t crc32_of(Bytes data);

/* "ab" and a uuid in Z85 (storage type u) are the file ab/deletion_vector_<uuid>.bin of the table. */
bool vector_path_of_uuid(Str text, Arena *arena, Str *out) MUST_CHECK;

/* Reads the vectors of one scan. A file of vectors is read once. */
typedef struct VectorReader {
    const LogPlace *place;
    Arena          *arena;
    Map            *files; /* path -> Bytes */
} VectorReader;

VectorReader vector_reader_open(const LogPlace *place, Arena *arena);
void         vector_reader_close(VectorReader *reader);
/* Of a file that has one; the rows live in `arena`. ERR_DAMAGED DELTA-D01: the vector is damaged, L08: it is not there;
 * ERR_UNSUPPORTED DELTA-D02, D03: a form that is not read. */
bool vector_reader_read(VectorReader *reader, const DeltaFile *file, Arena *arena, RowSet *out,
                        Err *err) MUST_CHECK;

/* Fills in the deletions, and gives the content of the file called `uuid` in which their new
 * vectors are; no bytes: every file goes. */
bool vectors_build(const LogPlace *place, DeltaDeletion *deletions, size_t count, Str uuid,
                   Arena *arena, Bytes *out, Err *err) MUST_CHECK;
/* The statistics of a file that has `row_count` rows and a vector now: its bounds are wide. */
Str stats_with_vector(Str stats, int64_t row_count, bool had_vector, Arena *arena);

#endif
