// The script of reports: tooltips on charts, for pointers, fingers and keys, and tables that sort.
// The page is complete without it: charts and tables are in the page, marks have <title> elements.
(function () {
  "use strict";

  var tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  tip.setAttribute("role", "status");
  document.body.appendChild(tip);

  // Show a text beside a point of the window, inside the window.
  function showTip(text, x, y) {
    tip.textContent = text; // never as HTML: names come from recordings
    tip.hidden = false;
    var left = x + 14 + tip.offsetWidth > innerWidth ? x - 14 - tip.offsetWidth : x + 14;
    var top = y + 14 + tip.offsetHeight > innerHeight ? y - 14 - tip.offsetHeight : y + 14;
    tip.style.left = Math.max(4, left) + "px";
    tip.style.top = Math.max(4, top) + "px";
  }

  function hideTip() {
    tip.hidden = true;
    document.querySelectorAll(".at").forEach(function (line) { line.remove(); });
    document.querySelectorAll(".chosen").forEach(function (cell) { cell.classList.remove("chosen"); });
  }

  // The browser would show <title> elements as a second tooltip: they become attributes.
  document.querySelectorAll("svg title").forEach(function (title) {
    title.parentNode.setAttribute("data-title", title.textContent);
    title.remove();
  });

  // ---- charts over time -------------------------------------------------------------------

  // "12.5 s after the begin (15:04:41 UTC)"
  function timeText(svg, share) {
    var since = share * Number(svg.dataset.lengthMs);
    var clock = new Date(Number(svg.dataset.beginMs) + since);
    return (since < 100000 ? (since / 1000).toPrecision(3) + " s"
      : Math.floor(since / 60000) + " min " + Math.floor(since / 1000 % 60) + " s") +
      " after the begin" + (isNaN(clock) ? "" : " (" + clock.toISOString().slice(11, 19) + " UTC)");
  }

  // A series has its values as "BIN TEXT;BIN TEXT;...": each counts from its bin to the next one.
  function valueAt(series, bin) {
    var value = "";
    series.dataset.steps.split(";").every(function (step) {
      var space = step.indexOf(" ");
      if (Number(step.slice(0, space)) > bin)
        return false;
      value = step.slice(space + 1);
      return true;
    });
    return value;
  }

  // What a chart shows in a bin: the time, the value of each series, and the titles of spans.
  function textAt(svg, bin) {
    var lines = [timeText(svg, (bin + 0.5) / svg.viewBox.baseVal.width)], spans = [];
    svg.querySelectorAll("[data-steps]").forEach(function (series) {
      var value = valueAt(series, bin);
      if (value !== "")
        lines.push(series.dataset.name + ": " + value);
    });
    svg.querySelectorAll("rect[data-title]").forEach(function (span) {
      var begin = Number(span.getAttribute("x"));
      if (bin + 1 > begin && bin < begin + Number(span.getAttribute("width")))
        spans.push(span.dataset.title);
    });
    if (spans.length > 4)
      spans.splice(4, spans.length, "and " + (spans.length - 4) + " more");
    return lines.concat(spans).join("\n");
  }

  function showBin(svg, bin, y) {
    var box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal;
    var line = document.createElementNS(svg.namespaceURI, "line");
    svg.bin = Math.max(0, Math.min(view.width - 1, Math.floor(bin)));
    hideTip();
    line.setAttribute("class", "at");
    line.setAttribute("x1", svg.bin + 0.5);
    line.setAttribute("x2", svg.bin + 0.5);
    line.setAttribute("y2", view.height);
    svg.appendChild(line);
    showTip(textAt(svg, svg.bin), box.left + (svg.bin + 0.5) / view.width * box.width, y);
  }

  document.querySelectorAll("svg[data-length-ms]").forEach(function (svg) {
    function follow(event) {
      var box = svg.getBoundingClientRect();
      showBin(svg, (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width, event.clientY);
    }
    function step(by) {
      showBin(svg, (svg.bin === undefined ? svg.viewBox.baseVal.width / 2 : svg.bin) + by,
        svg.getBoundingClientRect().top);
    }
    svg.addEventListener("pointermove", follow);
    svg.addEventListener("pointerdown", follow);
    keys(svg, function (x, y) { step(x * 8 + y * 80); });
  });

  // ---- matrices ---------------------------------------------------------------------------

  function showCell(svg, cell) {
    var box = cell.getBoundingClientRect();
    hideTip();
    svg.cell = cell;
    cell.classList.add("chosen");
    showTip(cell.dataset.title, box.right, box.bottom);
  }

  // The nearest cell in a direction: in the row for x, and in the rows above or below for y.
  function nextCell(svg, x, y) {
    var at = svg.cell || svg.querySelector(".cell"), best = null, least = Infinity;
    svg.querySelectorAll(".cell").forEach(function (cell) {
      var dx = cell.getAttribute("x") - at.getAttribute("x"), dy = cell.getAttribute("y") - at.getAttribute("y");
      var ahead = x * dx + y * dy, aside = Math.abs(x ? dy : dx);
      if (ahead > 0 && ahead + 1000 * aside < least) {
        least = ahead + 1000 * aside;
        best = cell;
      }
    });
    return svg.cell ? best || at : at;
  }

  document.querySelectorAll(".matrix svg").forEach(function (svg) {
    function follow(event) {
      if (event.target.dataset.title)
        showCell(svg, event.target);
      else
        hideTip();
    }
    if (svg.querySelector(".cell") === null)
      return;
    svg.addEventListener("pointermove", follow);
    svg.addEventListener("pointerdown", follow);
    keys(svg, function (x, y) { showCell(svg, nextCell(svg, x, y)); });
  });

  // Arrow keys move, Escape and leaving hide.
  function keys(svg, move) {
    var arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    svg.setAttribute("tabindex", "0");
    svg.addEventListener("focus", function () {
      if (svg.matches(":focus-visible"))
        move(0, 0);
    });
    svg.addEventListener("keydown", function (event) {
      if (event.key === "Escape")
        hideTip();
      if (!arrows[event.key])
        return;
      move.apply(null, arrows[event.key]);
      event.preventDefault();
    });
    svg.addEventListener("blur", hideTip);
    svg.addEventListener("pointerleave", function (event) {
      if (event.pointerType !== "touch") // a finger that was lifted leaves its tooltip
        hideTip();
    });
  }

  // ---- tables -----------------------------------------------------------------------------

  var units = {
    k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18, KiB: 1024, MiB: 1048576, GiB: 1073741824,
    TiB: 1099511627776, PiB: 1125899906842624, EiB: 1152921504606846976, ns: 1e-9, "µs": 1e-6, ms: 1e-3, min: 60, h: 3600, d: 86400
  };

  // The number of a cell, such as 1.17 KiB, 2 min 3 s or 10.0 µs ± 200 ns; or its text.
  function sortKey(cell) {
    var text = cell ? cell.textContent.split("±")[0].replace(/,(?=\d{3})/g, "").trim() : "";
    var parts = text.match(/-?\d+(\.\d+)?\s*[^\d\s.-]*/g);
    if (text === "" || !/^(rank |>)?-?\d/.test(text) || parts === null)
      return text === "" || text === "-" ? -Infinity : text;
    return parts.slice(0, 2).reduce(function (sum, part) {
      var unit = part.replace(/^-?[\d.]+\s*/, "");
      return sum + parseFloat(part) * (Object.hasOwn(units, unit) ? units[unit] : 1);
    }, 0);
  }

  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number")
      return a < b ? -1 : a > b ? 1 : 0;
    return String(a).localeCompare(String(b), undefined, { numeric: true });
  }

  // Sort by a column: the largest number first, or texts from A; again: the other way.
  function sortTable(table, head, column) {
    var rows = Array.from(table.rows).slice(1).filter(function (row) { return row.cells.length > 1; });
    var falling = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending"
      : head.classList.contains("n");
    var keyed = rows.map(function (row) { return { row: row, key: sortKey(row.cells[column]) }; });
    keyed.sort(function (a, b) { return (falling ? -1 : 1) * compare(a.key, b.key); });
    table.querySelectorAll("th").forEach(function (other) { other.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    keyed.forEach(function (entry) { entry.row.parentNode.appendChild(entry.row); });
  }

  document.querySelectorAll("table").forEach(function (table) {
    table.querySelectorAll("th").forEach(function (head, column) {
      var button = document.createElement("button");
      if (head.textContent === "")
        return;
      button.type = "button";
      button.title = "sort by this column";
      button.append.apply(button, Array.from(head.childNodes));
      head.appendChild(button);
      button.addEventListener("click", function () { sortTable(table, head, column); });
    });
  });

  document.addEventListener("keydown", function (event) {
    if (event.key === "Escape")
      hideTip();
  });
  addEventListener("scroll", hideTip, { passive: true });
})();
