/* bound_json.h - key bounds as plans and commits hold them (state.md 18), and as the server is given them. */
#ifndef TIDELAKE_ENGINE_BOUND_JSON_H
#define TIDELAKE_ENGINE_BOUND_JSON_H

#include "source/mssql_cut.h"

/* NULL: open, `null`. One column is a scalar, several a list. */
Str bound_to_json(Arena *arena, const TableCut *cut, const KeyPart *parts);
/* ERR_STATE: the text is no bound of this cut. *out NULL: open. */
bool bound_from_json(Arena *arena, const TableCut *cut, Str json, const KeyPart **out,
                     Err *err) MUST_CHECK;

#endif
