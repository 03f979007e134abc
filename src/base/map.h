/* map.h - a hash map from text to a pointer, with an owner of its own (not arena memory). Keys
 * are borrowed: the caller keeps their bytes alive as long as the entry. Iteration is in
 * insertion order, so results never depend on hash values. */
#ifndef TIDELAKE_BASE_MAP_H
#define TIDELAKE_BASE_MAP_H

#include "base/str.h"

typedef struct Map Map;

Map   *map_new(void);
void   map_close(Map *map); /* accepts NULL */
size_t map_count(const Map *map);
void  *map_find(const Map *map, Str key); /* NULL if absent */
/* Sets or replaces; returns the value that was there, NULL if none. `value` must not be NULL. */
void *map_put(Map *map, Str key, void *value);
void *map_remove(Map *map, Str key); /* the value that was there, or NULL */
/* for (size_t at = 0; map_next(map, &at, &key, &value);) */
bool map_next(const Map *map, size_t *at, Str *key_out, void **value_out);

#endif
