/* What a saved picture says of itself. */
#include "viewer/picture_caption.h"

#include "tests/viewer/synthetic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void into(void *user, const struct wire_message *message, int snapshot)
{
    assert_int_equal(model_apply(user, message, snapshot), 0);
}

static void a_picture_names_its_view_time_and_scale(void **state)
{
    struct model *m;
    struct synthetic job;
    struct ui ui;
    char text[160];
    (void)state;
    assert_int_equal(model_create(&m, 1 << 20), 0);
    ui_init(&ui, 800, 500, 2, THEME_DARK);
    assert_string_equal(picture_caption(&ui, m, "Jobs", text, sizeof text), "Jobs, scale 2");
    synthetic_init(&job, 8, 4, 6, 1);
    synthetic_begin(&job, into, m);
    for (int i = 0; i < 100; i++)
        synthetic_window(&job, into, m);
    /* windows begin at 1,790,000,000 s, 2026-09-21 14:13:20 UTC; a minute is in sight */
    assert_string_equal(picture_caption(&ui, m, "Live", text, sizeof text),
                        "Live, 2026-09-21 14:14:00 to 14:15:00, scale 2");
    assert_int_equal(strlen(picture_caption(&ui, m, "Live", text, 12)), 11);
    synthetic_finish(&job);
    ui_finish(&ui);
    model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_names_its_view_time_and_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
