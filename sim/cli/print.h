/* print.h - what batches give, for people: results as aligned text and messages as sqlcmd shows them; or all of
 * it as one JSON object. */
#ifndef TIDESIM_CLI_PRINT_H
#define TIDESIM_CLI_PRINT_H

#include "sim/sim.h"

#include <stdio.h>

typedef struct Printer Printer;

typedef enum PrinterMode {
    PRINTER_TEXT,  /* results and messages to `out`, errors to `err` */
    PRINTER_JSON,  /* nothing until the end, then one object to `out` */
    PRINTER_QUIET, /* no results; messages to `out`, errors to `err` */
} PrinterMode;
Printer *printer_new(FILE *out, FILE *err, PrinterMode mode);
void     printer_close(Printer *printer); /* accepts NULL; flushes `out` */
/* Prints the JSON object; `has_failed` also when nothing was run. */
void printer_finish_json(Printer *printer, bool has_failed);

/* Hand this to a session; good until the printer is closed. */
SimSink *printer_sink(Printer *printer);
/* What comes next is of a batch that begins at this line of this file. */
void printer_begin_batch(Printer *printer, Str file, int32_t first_line);
void printer_end_batch(Printer *printer);
/* The batch's first error; number 0: it had none. */
const SimError *printer_error(const Printer *printer);

#endif
