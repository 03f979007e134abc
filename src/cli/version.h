/* version.h - the program's version; meson.build passes the project's. */
#ifndef TIDELAKE_CLI_VERSION_H
#define TIDELAKE_CLI_VERSION_H

#ifndef TIDELAKE_VERSION
#error "TIDELAKE_VERSION comes from meson.build"
#endif

#endif
