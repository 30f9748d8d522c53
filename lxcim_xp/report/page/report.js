"use strict";
// What needs no script is in the page already: the chart, the tables, the words. This adds a cursor
// to the chart and an order to the table of subgroups. It computes nothing: the cursor reads what
// the library computed at each rate.

(() => {
  const data = JSON.parse(document.getElementById("curves").textContent);
  const plot = document.getElementById("plot");
  const cursor = document.getElementById("cursor");
  const readout = document.getElementById("readout");
  const status = document.getElementById("status");
  const dots = [...cursor.querySelectorAll(".dot")];
  const rows = [...readout.querySelectorAll("tbody tr")];
  const last = data.rate.length - 1;
  let place = data.start;

  const decimals = (value) => (value === null ? "\u2013" : value.toFixed(3));
  const percent = (value) =>
    value === null ? "\u2013" : `${(100 * value).toFixed(1).replace(/\.0$/, "")} %`;
  const texts = {
    cumulative: decimals,
    accuracy: decimals,
    local: decimals,
    reached: percent,
    confidence: String,
    scores: String,
  };

  function show(index) {
    place = Math.min(last, Math.max(0, index));
    const rate = data.rate[place];
    cursor.style.left = `${100 * rate}%`;
    data.models.forEach((model, which) => {
      dots[which].style.bottom = `${100 * (model.cumulative[place] ?? 0)}%`;
      for (const [name, text] of Object.entries(texts)) {
        const cell = rows[which].querySelector(`[data-of="${name}"]`);
        const value = model[name][place];
        cell.textContent = text(value);
        cell.dataset.value = value ?? "";
      }
    });
    // Of many models the first is told; the others stand in the table.
    const told = data.models.length > 2 ? data.models.slice(0, 1) : data.models;
    const said = told.map(
      (model) =>
        `${model.name}: cumulative accuracy ${decimals(model.cumulative[place])}, ` +
        `accuracy of what is decided ${decimals(model.accuracy[place])}`,
    );
    status.textContent = `At decision rate ${percent(rate)}. ${said.join("; ")}.`;
    status.dataset.rate = rate;
    plot.setAttribute("aria-valuenow", String(Math.round(1000 * rate) / 10));
    plot.setAttribute("aria-valuetext", status.textContent);
  }

  function follow(event) {
    const box = plot.getBoundingClientRect();
    show(Math.round((last * (event.clientX - box.left)) / box.width));
  }

  const steps = {
    ArrowRight: 1,
    ArrowUp: 1,
    ArrowLeft: -1,
    ArrowDown: -1,
    PageUp: 20,
    PageDown: -20,
    Home: -last,
    End: last,
  };

  function press(event) {
    if (event.key in steps && !event.altKey && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      show(place + steps[event.key]);
    }
  }

  plot.setAttribute("role", "slider");
  plot.setAttribute("tabindex", "0");
  plot.setAttribute("aria-label", "Decision rate, in percent");
  plot.setAttribute("aria-valuemin", "0");
  plot.setAttribute("aria-valuemax", "100");
  plot.setAttribute("aria-describedby", "readout-caption");
  plot.addEventListener("pointermove", follow);
  plot.addEventListener("pointerdown", follow);
  plot.addEventListener("keydown", press);
  cursor.hidden = readout.hidden = false;
  show(place);
})();

(() => {
  const words = new Intl.Collator("en", { numeric: true });

  function value(row, column) {
    const cell = row.cells[column];
    if ("null" in cell.dataset) return null;
    return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
  }

  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return words.compare(String(a), String(b));
  }

  function sort(table, head, column) {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    // Rows without a value come last either way; equal ones stay as they are.
    const found = [...body.rows].map((row) => ({ row, at: value(row, column) }));
    found.sort((a, b) => {
      if (a.at === null || b.at === null) return (a.at === null) - (b.at === null);
      return down ? compare(b.at, a.at) : compare(a.at, b.at);
    });
    body.append(...found.map(({ row }) => row));
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, head, column));
      head.append(button);
    });
  }
})();
