/* View "jobs": the jobs that the daemon knows, to choose one of them. */
#include "viewer/views/views.h"

#include "viewer/layout/format.h"
#include "viewer/views/common/pieces.h"

#include "holter/plain_text.h"
#include "proto/client.h"

#include <stdio.h>
#include <string.h>

enum { ROW = 30, HEAD = 70 }; /* HEAD: what is above and below the rows */
enum { JOB, APP, STATE, RANKS, NODES, START, LENGTH, DAEMON, COLUMNS };

static const struct table jobs_table = {
    .columns =
        {
            [JOB] = {"job", 0, 0, 0},
            [APP] = {"program", 0, 0, 0},
            [STATE] = {"state", 90, 0, 0},
            [RANKS] = {"ranks", 90, TEXT_RIGHT, 0},
            [NODES] = {"nodes", 70, TEXT_RIGHT, 0, 3},
            [START] = {"started", 96, TEXT_RIGHT, 0, 2},
            [LENGTH] = {"ran for", 110, TEXT_RIGHT, 0, 1},
            [DAEMON] = {"daemon", 150, TEXT_RIGHT, 0, 4}, /* where there are several */
        },
    .count = COLUMNS,
    .list = LIST_JOBS,
};

/* Of the job in view its own messages are newer than the list, which a replay may have sent before
 * its first window. */
static struct model_job_row jobs_view_newest(const struct model *m, const struct model_job_row *row)
{
    struct model_job_row newest = *row;
    if (strcmp(row->job, m->job) != 0 || m->world == 0)
        return newest;
    snprintf(newest.app, sizeof newest.app, "%s", m->app);
    snprintf(newest.state, sizeof newest.state, "%s", m->state);
    newest.ranks = m->world;
    newest.nodes = m->host_count;
    newest.start_ns = m->start_ns;
    newest.end_ns = m->end_ns;
    return newest;
}

/* With the day, where that is not the one of the daemon. */
static struct quantity jobs_view_start(const struct model *m, uint64_t start_ns)
{
    const uint64_t day_ns = UINT64_C(86400000000000);
    if (!start_ns)
        return quantity_print("%s", "");
    return start_ns / day_ns == m->daemon.now_ns / day_ns ? format_clock((int64_t)start_ns, 0)
                                                          : format_date((int64_t)start_ns);
}

static void jobs_view_job_row(struct stage *s, const struct table *table, struct box row,
                              const struct model_job_row *listed, uint32_t at)
{
    const struct theme *t = s->brush.theme;
    const struct model_job_row newest = jobs_view_newest(s->model, listed), *job = &newest;
    int here = !strcmp(job->job, s->model->job);
    piece_row(s, row, HIT_JOB, at, 0, s->ui->list.cursor[LIST_JOBS] == at, LIST_JOBS, at);
    widget_cell(&s->brush, table, row, JOB, here ? t->accent : t->text, job->job);
    widget_cell(&s->brush, table, row, APP, t->text, text_base_name(job->app));
    int running = !strcmp(job->state, "running"), replay = s->model->playback.known;
    int failed = !strcmp(job->state, "died") || !strcmp(job->state, "lost");
    color_t color = failed ? t->bad : running && !replay ? t->good : t->second;
    widget_cell(&s->brush, table, row, STATE, color, running && replay ? "replay" : job->state);
    widget_cell(&s->brush, table, row, RANKS, t->text, quantity_grouped(job->ranks).text);
    widget_cell(&s->brush, table, row, NODES, t->text, quantity_grouped(job->nodes).text);
    widget_cell(&s->brush, table, row, START, t->second,
                jobs_view_start(s->model, job->start_ns).text);
    uint64_t end = job->end_ns ? job->end_ns : s->model->daemon.now_ns;
    if (replay && here) /* the daemon's clock is that of today */
        end = job->end_ns ? job->end_ns : model_now_ns(s->model);
    else if (replay && !job->end_ns)
        end = 0;
    if (job->start_ns && end > job->start_ns)
        widget_cell(&s->brush, table, row, LENGTH, t->second,
                    format_duration((double)(end - job->start_ns)).text);
    if (table->count == COLUMNS)
        widget_cell(&s->brush, table, row, DAEMON, t->second,
                    text_base_name(job->daemon[0] ? job->daemon : s->ui->connection.endpoint));
}

static int jobs_view_has_other_daemons(const struct model *m)
{
    for (uint32_t i = 0; i < m->job_count; i++)
        if (m->jobs[i].daemon[0])
            return 1;
    return 0;
}

/* Explanation in place of the list when no job is known. */
static void jobs_view_add_nothing(struct stage *s, struct box box)
{
    const struct ui_connection *c = &s->ui->connection;
    char text[512];
    if (c->state == CLIENT_CONNECTED) {
        piece_empty(s, box, "The daemon knows no job yet",
                    "Start one:  holter run -- mpirun -n 8 ./app");
    } else if (c->error[0]) {
        piece_empty(s, box,
                    c->state == CLIENT_REFUSED ? "The daemon refuses this viewer"
                                               : "The daemon cannot be reached",
                    c->error);
    } else {
        snprintf(text, sizeof text, "%s", c->endpoint);
        piece_empty(s, box, "Connecting to the daemon", text);
    }
}

static void jobs_layout(struct stage *s, struct box box)
{
    const struct model *m = s->model;
    struct box panel = box_inset(box, 14, 10);
    struct table table = jobs_table;
    table.count -= !jobs_view_has_other_daemons(m);
    if (m->job_count)
        panel = piece_list_panel(panel, HEAD, m->job_count, ROW);
    piece_panel(s, panel, "jobs");
    widget_title(&s->brush, panel.x + 12, panel.y + 7, panel.w - 24, "Jobs",
                 m->job_count ? "click one, or select it with the arrow keys and Enter" : "");
    struct box head = {panel.x + 8, panel.y + 38, panel.w - 20, 24};
    struct box list = {head.x, head.y + 26, head.w + 8, panel.h - HEAD};
    if (!m->job_count) {
        jobs_view_add_nothing(s, list);
        return;
    }
    uint32_t last, first = piece_list(s, list, LIST_JOBS, m->job_count, ROW, &last);
    for (uint32_t i = first; i < last; i++) {
        table_need(&s->brush, &table, JOB, m->jobs[i].job);
        table_need(&s->brush, &table, APP, text_base_name(m->jobs[i].app));
        table_need(&s->brush, &table, START, jobs_view_start(m, m->jobs[i].start_ns).text);
    }
    widget_table_head(&s->brush, &table, head, -1, 0);
    for (uint32_t i = first; i < last; i++)
        jobs_view_job_row(s, &table,
                          (struct box){list.x, list.y + (i - first) * ROW, head.w, ROW - 1},
                          &m->jobs[i], i);
}

const struct view jobs_view = {.layout = jobs_layout};
