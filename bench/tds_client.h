/* tds_client.h - a connection of the benchmarks: logged in as sa, encrypted if asked (TLS 1.2 with AES-GCM, around TDS 8),
 * and as cheap as a client can be. Whatever fails ends the program. */
#ifndef TIDELAKE_BENCH_TDS_CLIENT_H
#define TIDELAKE_BENCH_TDS_CLIENT_H

#include "tds/tds_response.h"

typedef struct BenchClient BenchClient;

/* The address may begin with "tls:". */
BenchClient *bench_client_open(Str address, Str database, Str password);
void         bench_client_close(BenchClient *client);
TdsWriter   *bench_client_writer(BenchClient *client); /* packets of the largest size */
void         bench_client_batch(BenchClient *client, Str sql);
/* Reads a response over; the number of its last DONE, and the bytes there were. */
uint64_t       bench_client_discard(BenchClient *client, uint64_t *bytes_out);
int64_t        bench_now_ns(void);
_Noreturn void bench_fail(const char *what, const char *why);

#endif
