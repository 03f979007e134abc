/* fake_sqlconn.h - a SQL Server that says what a table tells it to, for tests of what the source
 * asks and makes of the answers.
 *
 * A script is a list of answers. A statement gets the first answer that is not used up and whose
 * `expect` stands in its text; a connection attempt gets those that expect FAKE_CONNECT (none left:
 * it succeeds). A statement without an answer is ERR_INTERNAL. */
#ifndef TIDELAKE_SUPPORT_FAKE_SQLCONN_H
#define TIDELAKE_SUPPORT_FAKE_SQLCONN_H

#include "sqlconn/sqlconn.h"

#define FAKE_CONNECT "<connect>"

typedef struct FakeAnswer {
    const char *expect;
    const char *columns; /* "max_lsn STRING, n BIGINT": names and SQL types of the lake */
    const char
           *rows; /* rows end with '\n', values stand between '|'; NULL, true, 0x0A0B, ISO times */
    ErrCode code; /* other than ERR_NONE: fails */
    int32_t native;
    const char *sqlstate;
    const char *message;
    int         times;           /* 0: any number */
    int         fail_after_rows; /* with a code and rows: the error comes after that many rows */
    bool        kills;           /* the connection is dead afterwards */
} FakeAnswer;

typedef struct FakeCall {
    int        connection; /* from 1, in the order they were opened */
    Str        sql;
    const Str *params;
    size_t     param_count;
} FakeCall;

typedef struct FakeServer FakeServer;

FakeServer *fake_server_new(Arena *arena, const FakeAnswer *answers, size_t answer_count);
SqlDriver  *fake_server_driver(FakeServer *server);
void fake_server_set_block_rows(FakeServer *server, size_t rows); /* rows per block; 0: as asked */
int  fake_server_connections(const FakeServer *server);           /* opened so far */
int  fake_server_open_connections(const FakeServer *server);      /* not closed yet */
size_t fake_server_call_count(const FakeServer *server, const char *substring);
/* The n-th call (from 0) whose SQL holds `substring`, NULL if there is none. */
const FakeCall *fake_server_call(const FakeServer *server, const char *substring, size_t n);

/* A result of those rows, as sqlconn_query gives one; for streams that need no server. */
SqlResult *fake_result_new(const char *columns, const char *rows, size_t block_rows);

#endif
