/* Texts of error codes. */
#include "holter/error.h"

#include <string.h>

const char *holter_strerror(int code)
{
    switch (-code) {
#define X(name, text)                                                                              \
    case HOLTER_##name:                                                                            \
        return text;
        HOLTER_ERRORS(X)
#undef X
    default: {
        const char *text = code < 0 ? strerrordesc_np(-code) : NULL;
        return text ? text : "unknown error";
    }
    }
}

const char *holter_errname(int code)
{
    switch (-code) {
#define X(name, text)                                                                              \
    case HOLTER_##name:                                                                            \
        return "HOLTER_" #name;
        HOLTER_ERRORS(X)
#undef X
    default: {
        const char *name = code < 0 ? strerrorname_np(-code) : NULL;
        return name ? name : "unknown";
    }
    }
}
