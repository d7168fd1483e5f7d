/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with the page as it stands, in sentences; an empty list when nothing is. */
(() => {
  const wrong = [];
  const SMALLEST = 12, CONTRAST = 4.5;

  /* Charts: something of every trace is painted, and axes have labels. */
  const charts = [...document.querySelectorAll(".chart")];
  if (!charts.length) wrong.push("no chart on the page");
  const painted = (element) => { const box = element.getBoundingClientRect(); return box.width > 0 || box.height > 0; };
  charts.forEach((div, index) => {
    const name = `chart ${index} (${div.getAttribute("aria-label")})`;
    if (!div.querySelector(".main-svg")) { wrong.push(`${name} is not drawn`); return; }
    const shown = (div._fullData ?? []).filter((trace) => trace.visible === true);
    const marks = [...div.querySelectorAll(".scatterlayer .trace path, .barlayer path, .heatmaplayer image")].filter(painted);
    if (!shown.length) wrong.push(`${name} has no visible trace`);
    if (marks.length < shown.length) wrong.push(`${name}: ${shown.length} traces, ${marks.length} marks painted`);
    for (const axis of ["x", "y"]) {
      const ticks = [...div.querySelectorAll(`.${axis}tick text`)].filter(painted);
      if (!ticks.length) wrong.push(`${name}: no label on the ${axis} axis`);
      const boxes = ticks.map((tick) => tick.getBoundingClientRect());
      boxes.sort((a, b) => (axis === "x" ? a.left - b.left : a.top - b.top));
      boxes.slice(1).forEach((box, i) => {
        const gap = axis === "x" ? box.left - boxes[i].right : box.top - boxes[i].bottom;
        if (gap < -1) wrong.push(`${name}: labels of the ${axis} axis overlap by ${(-gap).toFixed(1)} px`);
      });
    }
    const frame = div.getBoundingClientRect();
    div.querySelectorAll("svg text").forEach((text) => {
      const box = text.getBoundingClientRect();
      if (!box.width || text.closest(".hoverlayer")) return;
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1) {
        wrong.push(`${name}: "${text.textContent}" is cut off`);
      }
    });
  });

  /* Text: large and dark enough. */
  const parse = (color) => { const part = color.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0]; return part.length < 4 ? [...part, 1] : part; };
  const luminance = ([r, g, b]) => [r, g, b]
    .map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let node = element; node; node = node.parentElement) {
      const color = parse(getComputedStyle(node).backgroundColor);
      if (color[3] > 0.5) return color;
    }
    return [255, 255, 255, 1];
  };
  const seen = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement, text = walker.currentNode.textContent.trim();
    if (!text || seen.has(element) || element.closest("script, style, noscript, .hoverlayer")) continue;
    seen.add(element);
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const own = getComputedStyle(element), svg = element instanceof SVGElement;
    const size = parseFloat(own.fontSize);
    if (size < SMALLEST) wrong.push(`"${text.slice(0, 40)}" is ${size} px small`);
    const [light, dark] = [luminance(parse(svg ? own.fill : own.color)), luminance(behind(element))].sort((a, b) => b - a);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < CONTRAST) wrong.push(`"${text.slice(0, 40)}" has contrast ${contrast.toFixed(1)}`);
    const box = element.getBoundingClientRect();
    if (!svg && !element.closest(".scroll") && box.right > innerWidth + 1) wrong.push(`"${text.slice(0, 40)}" leaves the screen`);
  }
  const width = document.documentElement.scrollWidth;
  if (width > innerWidth) wrong.push(`the page is ${width} px wide on a screen of ${innerWidth} px`);
  return [...new Set(wrong)];
})()
