/* What is visible of the graph of rank regions, and what its colours stand for. */
#ifndef HOLTER_VIEWER_UI_UI_REGIONS_H
#define HOLTER_VIEWER_UI_UI_REGIONS_H

#include <stdint.h>

struct ui;
struct model;

/** What the ranks in the graph of regions are coloured by. */
enum graph_colour { COLOUR_REGION, COLOUR_LATENCY };

/** Choices about the graph of rank regions. */
struct ui_regions_choice {
    enum graph_colour colour;
    double x, y;   /**< centre of the visible part, in the graph's coordinates */
    double zoom;   /**< 1: all of it */
    uint64_t open; /**< region whose ranks are drawn individually; 0: none */
};

/** Zoom and move the graph of regions; x and y are places in it. */
void ui_zoom_graph(struct ui *ui, double factor, double x, double y);
void ui_pan_graph(struct ui *ui, double dx, double dy);

/** Fits the whole graph. */
void ui_graph_home(struct ui *ui);

#endif
