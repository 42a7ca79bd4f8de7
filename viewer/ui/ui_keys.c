/* The table of keys. */
#include "viewer/ui/ui_keys.h"

#include "viewer/layout/input_event.h"

const struct key_line key_lines[KEY_IDS] = {
#define X(id, shown, words, context, views, ...) {id, shown, words, context, views, {__VA_ARGS__}},
    KEY_LINES(X)
#undef X
};

const struct key_line *key_find(int key, int *which)
{
    for (int i = 0; i < KEY_IDS; i++)
        for (int k = 0; k < 5 && key_lines[i].keys[k]; k++)
            if (key_lines[i].keys[k] == key) {
                *which = k;
                return &key_lines[i];
            }
    return NULL;
}
