// The page works without this script. With it tables sort and filter, rows open their problems, and
// the plot of a search can be drawn against any parameter.
"use strict";
(() => {
  const all = (query, within = document) => [...within.querySelectorAll(query)];
  const make = (name, text, attributes) => {
    const made = document.createElement(name);
    made.textContent = text;
    return Object.assign(made, attributes);
  };

  // ---- tables ----

  const valueOf = (row, column) => {
    const cell = row.cells[column];
    const text = cell ? cell.dataset.v ?? cell.textContent.trim() : "";
    const number = parseFloat(text.replace(/,/g, ""));
    return Number.isNaN(number) || /[:=]/.test(text) ? text : number;
  };

  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b
      : typeof a === typeof b ? a.localeCompare(b, "en", { numeric: true })
      : typeof a === "number" ? -1 : 1;

  const sortBy = (table, head) => {
    const column = head.cellIndex, body = table.tBodies[0];
    const down = head.getAttribute("aria-sort") === "ascending";
    const keyed = [...body.rows].map((row) => [valueOf(row, column), row]);
    keyed.sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]));
    all("[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...keyed.map((pair) => pair[1]));
  };

  const addFilter = (table) => {
    const rows = [...table.tBodies[0].rows];
    if (rows.length < 12) return;
    const label = make("label", "Filter ", { className: "filter" });
    const input = make("input", "", { type: "search", placeholder: "words, such as f32 tile" });
    const count = make("output", rows.length + " rows");
    label.append(input, count);
    table.parentElement.before(label);
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/);
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        shown += !row.hidden;
      }
      count.textContent = shown + " of " + rows.length + " rows";
    });
  };

  const prepareTables = (within) => {
    for (const table of all("table.sortable", within)) {
      for (const head of all("thead th", table)) {
        if (!head.textContent) continue;
        const button = make("button", head.textContent, { type: "button" });
        button.addEventListener("click", () => sortBy(table, head));
        head.replaceChildren(button);
      }
      addFilter(table);
    }
  };

  // Lines with tabs, as a table that sorts.
  const makeTable = (pre) => {
    const box = make("div", "", { className: "scroll tall" }), table = make("table", "");
    table.className = "points sortable";
    const [head, ...lines] = pre.textContent.trim().split("\n").map((line) => line.split("\t"));
    const names = table.createTHead().insertRow(), body = table.createTBody();
    names.append(...head.map((name) => make("th", name)));
    for (const line of lines) body.insertRow().append(...line.map((text) => make("td", text)));
    box.append(table);
    pre.replaceWith(box);
    prepareTables(box);
  };

  // ---- the plot of a search ----

  const readPoints = (problem) => {
    const names = new Map(all(".names li", problem).map((item) =>
      [item.dataset.f, item.querySelector("code").textContent.split(" ")]));
    return all("table.points tbody tr", problem).map((row) => {
      const [number, family, time, , values] = [...row.cells].map((cell) => cell.textContent.trim());
      const words = values.split(" "), config = new Map();
      words.forEach((word, i) => {
        const pair = word.includes("=") ? word.split("=") : [(names.get(family) ?? [])[i], word];
        config.set(pair[0], pair[1]);
      });
      return { number, family, time, config };
    }).filter((point) => !Number.isNaN(parseFloat(point.time)));
  };

  // The picture has the points of a family in the order of the table.
  const placePoints = (svg, points) => {
    for (const line of all("[data-s]", svg)) {
      const own = points.filter((point) => point.family === line.dataset.s);
      const steps = line.getAttribute("d").match(/-?[\d.]+/g).map(Number);
      for (let i = 0, x = 0, y = 0; i < own.length && 2 * i + 1 < steps.length; i++) {
        [x, y] = [x + steps[2 * i], y + steps[2 * i + 1]];
        Object.assign(own[i], { line, x, y, usualX: x });
      }
    }
    return points.filter((point) => point.line);
  };

  // The left end and the width of the frame: lines of y go across all of it, as "M56 24H380M...".
  const frameOf = (svg) => {
    const [left, , right] = svg.querySelector(".y path").getAttribute("d").match(/[\d.]+/g).map(Number);
    return [left, right - left];
  };

  const drawAgainst = (svg, axis, usual, points, name) => {
    const [left, width] = frameOf(svg);
    const keyOf = (point) => name === "kernel" ? point.family : point.config.get(name);
    const keys = [...new Set(points.map(keyOf))].filter((key) => key !== undefined);
    keys.sort((a, b) => compare(Number.isNaN(+a) ? a : +a, Number.isNaN(+b) ? b : +b));
    points.forEach((point, i) => {
      const slot = keys.indexOf(keyOf(point));
      point.x = name === "evaluation" ? point.usualX : slot < 0 ? NaN
        : left + width / keys.length * (slot + 0.5 + ((i * 7919) % 17 / 17 - 0.5) * 0.6);
    });
    for (const line of all("[data-s]", svg))
      line.setAttribute("d", points.filter((point) => point.line === line && !Number.isNaN(point.x))
        .map((point, i) => (i ? "L" : "M") + point.x + " " + point.y).join(""));
    all(".best, .expected", svg).forEach((line) => { line.style.display = name === "evaluation" ? "" : "none"; });
    axis.replaceChildren(...usual.map((node) => node.cloneNode(true)));
    if (name === "evaluation") return;
    const title = axis.querySelector(".t"), sample = axis.querySelector("text");
    title.textContent = name;
    all("path, text:not(.t)", axis).forEach((node) => node.remove());
    keys.forEach((key, i) => {
      const text = sample.cloneNode();
      text.textContent = key;
      text.setAttribute("x", left + width / keys.length * (i + 0.5));
      axis.append(text);
    });
  };

  const pointOut = (svg, points, output, unit) => svg.addEventListener("pointermove", (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    let best = null, least = 14;
    for (const point of points) {
      const far = Math.hypot(point.x - at.x, point.y - at.y);
      if (far < least) [best, least] = [point, far];
    }
    output.textContent = best ? `#${best.number} ${best.family}, ${best.time} ${unit}: ` +
      [...best.config].map((pair) => pair.join("=")).join(" ") : "";
  });

  const preparePlot = (problem) => {
    const figure = problem.querySelector("figure.configs");
    all("pre.points", problem).forEach(makeTable);
    if (!figure || figure.querySelector("select") || !problem.querySelector("table.points")) return;
    const svg = figure.querySelector("svg.plot"), axis = svg.querySelector(".x"), usual = [...axis.childNodes];
    const points = placePoints(svg, readPoints(problem));
    const names = new Set(["evaluation", "kernel"]);
    points.forEach((point) => [...point.config.keys()].forEach((name) => names.add(name)));
    const label = make("label", "Against ", { className: "controls small" }), select = make("select", "");
    select.append(...[...names].map((name) => make("option", name)));
    label.append(select);
    figure.prepend(label);
    const output = make("output", "");
    figure.append(output);
    select.addEventListener("change", () => drawAgainst(svg, axis, usual, points, select.value));
    pointOut(svg, points, output, svg.querySelector(".y .t").textContent);
  };

  // ---- problems ----

  let data = null;

  const prepareProblem = (problem) => {
    problem.addEventListener("toggle", () => preparePlot(problem));
    if (problem.open) preparePlot(problem);
  };

  // The details of the many have their config in the page's data only.
  const fillConfig = (problem, device) => {
    const place = problem.querySelector("code.config"), name = problem.querySelector("summary span").textContent;
    data ??= JSON.parse(document.getElementById("data").textContent);
    const row = data.devices[device].problems.find((entry) => entry.problem === name);
    if (row) place.textContent = Object.entries(row.parameters).map((pair) => pair.join("=")).join(" ");
  };

  const openProblem = (id) => {
    const text = document.getElementById("t-" + id), device = (/^p(\d+)-/.exec(id) ?? [])[1];
    if (!document.getElementById(id) && text) {
      const list = document.querySelector(`#d${device} .problems`);
      list.insertAdjacentHTML("afterbegin", text.textContent);
      prepareTables(list.firstElementChild);
      prepareProblem(list.firstElementChild);
      fillConfig(list.firstElementChild, device);
    }
    const problem = document.getElementById(id);
    if (!problem?.classList.contains("problem")) return;
    problem.open = true;
    problem.scrollIntoView();
  };

  all("a[data-p]").forEach((link) => { link.href = "#" + link.dataset.p; });
  prepareTables(document);
  all(".problem").forEach(prepareProblem);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#p"]');
    if (link) openProblem(link.getAttribute("href").slice(1));
  });
  window.addEventListener("hashchange", () => openProblem(location.hash.slice(1)));
  if (location.hash) openProblem(location.hash.slice(1));
})();
