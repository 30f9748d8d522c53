"use strict";
// The page is complete without this script: chart, tables and words. The script adds a cursor to
// the chart, makes tables sortable, gives long ones a filter, and folds the tables of many models.
// It computes nothing: the cursor reads what the library computed at each rate.

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
    // Of many models only the first is read out; the others are in the table.
    const told = data.models.length > 2 ? data.models.slice(0, 1) : data.models;
    const said = told.map(
      (model) =>
        `${model.name}: cumulative accuracy ${decimals(model.cumulative[place])}, ` +
        (model.accuracy[place] === null
          ? "nothing is decided"
          : `accuracy of what is decided ${decimals(model.accuracy[place])}`),
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
    const held = "value" in cell.dataset ? cell : cell.querySelector("[data-value]");
    if (held) return Number(held.dataset.value);
    return cell.classList.contains("n") ? null : cell.textContent;
  }

  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return words.compare(String(a), String(b));
  }

  function sort(table, head, down) {
    const column = head.cellIndex;
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    // Rows without a value come last either way; equal ones keep their order.
    const found = [...body.rows].map((row) => ({ row, at: value(row, column) }));
    found.sort((a, b) => {
      if (a.at === null || b.at === null) return (a.at === null) - (b.at === null);
      return down ? compare(b.at, a.at) : compare(a.at, b.at);
    });
    body.append(...found.map(({ row }) => row));
    table.parentElement.scrollTop = 0;
  }

  // Keep the rows whose names contain all the words; numbers are not searched.
  function filter(table, wanted) {
    const parts = wanted.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const names = [...row.cells].filter((cell) => !cell.classList.contains("n"));
      const text = names.map((cell) => cell.textContent.toLowerCase()).join("\n");
      row.hidden = !parts.every((part) => text.includes(part));
      shown += !row.hidden;
    }
    table.parentElement.scrollTop = 0;
    return shown;
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () =>
        sort(table, head, head.getAttribute("aria-sort") === "ascending"),
      );
      head.append(button);
    });
  }

  for (const tools of document.querySelectorAll(".tools")) {
    const table = tools.nextElementSibling.querySelector("table");
    const [input, button, output] = ["input", "button", "output"].map((name) =>
      tools.querySelector(name),
    );
    const total = table.tBodies[0].rows.length;
    const count = (number) => number.toLocaleString("en");
    const tell = (shown) => (output.textContent = `${count(shown)} of ${count(total)} rows`);
    input.addEventListener("input", () => tell(filter(table, input.value)));
    button?.addEventListener("click", () =>
      sort(table, table.tHead.querySelector("[data-worst]"), false),
    );
    tell(total);
    tools.hidden = false;
  }
})();

(() => {
  const models = [...document.querySelectorAll("details")];
  if (models.length < 4) return;
  const fold = () => models.forEach((model, which) => (model.open = which === 0));
  addEventListener("beforeprint", () => models.forEach((model) => (model.open = true)));
  addEventListener("afterprint", fold);
  fold();
})();
