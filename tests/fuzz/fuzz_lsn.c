/* Any bytes as the text of an LSN (algorithms.md 0.2): what is accepted has one canonical form. */
#include "types/lsn.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Lsn lsn;
    Lsn back;

    if (!lsn_parse((Str){(const char *)data, size}, &lsn)) return 0;
    LsnText text        = lsn_format(lsn);
    bool    is_accepted = lsn_parse((Str){text.text, LSN_TEXT_CHARS}, &back);
    assert(is_accepted);
    assert(lsn_equal(lsn, back));
    return 0;
}
