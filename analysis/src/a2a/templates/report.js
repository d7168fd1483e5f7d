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
    displaylogo: false, responsive: true, displayModeBar: touch ? true : "hover",
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
    toImageButtonOptions: { format: "svg" },
  };

  /* Tick labels never touch: as many of the given ones as fit, from the last. */
  const thin = (spec, width) => {
    const own = spec.layout.xaxis;
    if (!own.allticks) own.allticks = own.tickvals ? own.tickvals.map((v, i) => [v, own.ticktext[i]]) : [];
    if (!own.allticks.length) return;
    const at = own.type === "log" ? Math.log10 : Number;
    const xs = spec.traces.flatMap((t) => (Array.isArray(t.x) ? t.x : [])).filter((x) => x > 0).map(at);
    const low = Math.min(...xs), span = Math.max(...xs) - low || 1;
    const kept = [];
    let edge = Infinity;
    for (const [value, text] of [...own.allticks].reverse()) {
      const place = ((at(value) - low) / span) * (width - 70), half = text.length * 4 + 5;
      if (place + half <= edge) { kept.unshift([value, text]); edge = place - half; }
    }
    own.tickvals = kept.map((t) => t[0]);
    own.ticktext = kept.map((t) => t[1]);
  };

  const divs = [...document.querySelectorAll(".chart")];
  divs.forEach((div, index) => {
    const spec = charts[index];
    thin(spec, div.clientWidth);
    const { allticks, ...xaxis } = spec.layout.xaxis;
    spec.base = { ...spec.layout, xaxis };
    Plotly.newPlot(div, spec.traces, layout(spec.base), config);
  });

  /* Legend: one button shows or hides its lines in every panel of the figure. */
  document.querySelectorAll(".legend").forEach((legend) => {
    legend.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      legend.closest("figure").querySelectorAll(".chart").forEach((div) => {
        const which = div.data.flatMap((t, i) => (t.legendgroup === button.dataset.group ? [i] : []));
        if (which.length) Plotly.restyle(div, { visible: shown }, which);
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
    document.querySelectorAll("details:not([open])").forEach((d) => { d.open = true; folded.push(d); });
    divs.forEach((div) => {
      const single = div.closest(".panels").classList.contains("panels-1");
      Plotly.relayout(div, { width: single ? 680 : 335, height: 272 });
    });
  });
  addEventListener("afterprint", () => {
    folded.splice(0).forEach((d) => { d.open = false; });
    divs.forEach((div) => Plotly.relayout(div, { width: null, height: null, autosize: true }));
  });
})();
