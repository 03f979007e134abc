/* md5.h - MD5 (RFC 1321), for the checksum that `_last_checkpoint` may carry (delta.md 1.3). It
 * guards a hint against torn writes, nothing else; a library for it would be one more package to
 * install. */
#ifndef TIDELAKE_DELTA_MD5_H
#define TIDELAKE_DELTA_MD5_H

#include "base/str.h"

#define MD5_BYTES 16

void md5_digest(Bytes data, uint8_t out[MD5_BYTES]);

#endif
