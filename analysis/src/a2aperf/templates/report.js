/* SPDX-License-Identifier: BSD-3-Clause */
(() => {
  "use strict";
  const charts = JSON.parse(document.getElementById("data").textContent);
  const touch = matchMedia("(pointer: coarse)").matches;
  const family = getComputedStyle(document.body).fontFamily;

  const merged = (base, own) => {
    for (const [name, value] of Object.entries(own)) {
      const nested = value && typeof value === "object" && !Array.isArray(value) && base[name];
      base[name] = nested ? merged(base[name], value) : value;
    }
    return base;
  };
  const axis = () => ({
    automargin: true, gridcolor: "#e3e3e3", linecolor: "#6b6b6b", zeroline: false, ticks: "outside",
    ticklen: 4, tickcolor: "#6b6b6b", title: { font: { size: 13 }, standoff: 8 }, separatethousands: true,
  });
  const layout = (own) => merged({
    font: { family, size: 13, color: "#1a1a1a" },
    margin: { l: 8, r: 12, t: 28, b: 8 },
    paper_bgcolor: "#fff", plot_bgcolor: "#fff",
    showlegend: false, hovermode: "closest", bargap: 0.1,
    dragmode: touch ? false : "zoom", // a finger scrolls the page; the bar's buttons zoom
    hoverlabel: { font: { family, size: 13 }, align: "left", bgcolor: "#fff", bordercolor: "#6b6b6b" },
    modebar: { bgcolor: "rgba(255,255,255,0)", color: "#6b6b6b", activecolor: "#1a1a1a" },
    xaxis: axis(), yaxis: axis(),
  }, own);
  const config = {
    displaylogo: false, showTips: false, responsive: true, displayModeBar: touch ? true : "hover",
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]],
    toImageButtonOptions: { format: "svg" },
  };

  const number = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });
  /* Round places inside a logarithmic range, more of them the closer one looks. */
  const logTicks = ([low, high]) => {
    const decades = high - low;
    const steps = decades > 2.6 ? [1] : decades > 0.8 ? [1, 2, 5] : decades > 0.25 ? [1, 1.5, 2, 3, 4, 5, 7]
      : Array.from({ length: 90 }, (_, i) => 1 + i / 10);
    const stride = Math.max(1, Math.round(decades / 6));
    const ticks = [];
    for (let power = Math.floor(low); power <= Math.ceil(high); power += stride) {
      for (const step of steps) {
        const place = Math.log10(step) + power;
        if (place >= low && place <= high) ticks.push([step * 10 ** power, number.format(step * 10 ** power).replaceAll(",", "\u2009")]);
      }
    }
    return ticks;
  };
  /* As many labels as fit side by side, from the last, which tells how far the axis goes. */
  const fitting = (ticks, range, log, length, upright) => {
    const at = log ? Math.log10 : Number, kept = [];
    let edge = Infinity;
    for (const [value, text] of [...ticks].reverse()) {
      const place = ((at(value) - range[0]) / (range[1] - range[0])) * length, half = upright ? 7 : text.length * 4 + 5;
      if (place + half <= edge) { kept.unshift([value, text]); edge = place - half; }
    }
    return kept;
  };
  const ticked = new WeakMap();
  const setTicks = (div) => {
    const update = {};
    for (const name of ["xaxis", "yaxis"]) {
      const axis = div._fullLayout[name], given = ticked.get(div)[name];
      const log = axis.type === "log";
      if (!given && !log) continue;
      let ticks = given ?? logTicks(axis.range);
      if (given?.length > 1 && log && ticks.filter(([v]) => Math.log10(v) >= axis.range[0] && Math.log10(v) <= axis.range[1]).length < 2) ticks = logTicks(axis.range);
      if (name === "xaxis") ticks = fitting(ticks, axis.range, log, axis._length, axis.tickangle === -90);
      const values = ticks.map((t) => t[0]);
      if (String(values) === String(div.layout[name].tickvals)) continue;
      update[`${name}.tickvals`] = values;
      update[`${name}.ticktext`] = ticks.map((t) => t[1]);
    }
    if (Object.keys(update).length) Plotly.relayout(div, update);
  };

  const divs = [...document.querySelectorAll(".chart")];
  divs.forEach((div, index) => {
    const { traces, layout: own } = charts[index];
    const pairs = (axis) => axis.tickvals?.map((value, i) => [value, axis.ticktext[i]]);
    // Upright names take their room from below the axis, not from the chart.
    if (own.xaxis.tickangle === -90 && own.xaxis.ticktext) {
      div.style.height = `${div.offsetHeight + 7 * Math.max(...own.xaxis.ticktext.map((text) => text.length))}px`;
    }
    ticked.set(div, { xaxis: pairs(own.xaxis), yaxis: pairs(own.yaxis) });
    Plotly.newPlot(div, traces, layout(own), config);
    setTicks(div);
    div.on("plotly_relayout", () => setTicks(div));
  });

  /* Legend: a button shows or hides its lines in every panel of the figure. */
  document.querySelectorAll(".legend").forEach((legend) => {
    legend.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
      const off = new Set([...legend.querySelectorAll('[aria-pressed="false"]')].map((b) => b.dataset.name));
      legend.closest("figure").querySelectorAll(".chart").forEach((div) => {
        Plotly.restyle(div, { visible: div.data.map((trace) => !(trace.meta ?? []).some((name) => off.has(name))) });
      });
    });
  });

  /* Tables: a click sorts, another turns round; unknown values stay last. */
  const key = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.key ?? cell.textContent.trim();
    return text === "" || text === "\u2013" ? null : (Number.isNaN(Number(text)) ? text : Number(text));
  };
  document.querySelectorAll("table.sortable").forEach((table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows].map((row) => [key(row, column), row]);
      rows.sort(([a], [b]) => {
        if (a === null || b === null) return (a === null) - (b === null);
        const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
        return down ? -order : order;
      });
      table.tBodies[0].append(...rows.map((pair) => pair[1]));
    }));
  });

  /* Paper: open what is folded and fit the charts to the sheet, and back. */
  const folded = [];
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details:not([open])").forEach((d) => {
      if (d.closest(".screen-only")) return; d.open = true; folded.push(d); });
    divs.forEach((div) => {
      const single = div.closest(".panels").classList.contains("panels-1");
      Plotly.relayout(div, { width: single ? 680 : 336, height: 224 });
    });
  });
  addEventListener("afterprint", () => {
    folded.splice(0).forEach((d) => { d.open = false; });
    divs.forEach((div) => Plotly.relayout(div, { width: null, height: null, autosize: true }));
  });
})();
