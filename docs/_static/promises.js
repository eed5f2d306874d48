// The browser of measured promises: filters, search and sorting over the rows of the table.
// Without this script the table can be read as it is.
(() => {
  const table = document.querySelector("table.promise-rows");
  if (!table) return;
  const form = document.querySelector("form.promise-filter");
  const heads = [...table.querySelectorAll("th")];
  const keys = heads.map((head) => head.dataset.key);
  const rows = [...table.tBodies[0].rows].map((element, place) => {
    const values = {};
    keys.forEach((key, i) => { values[key] = element.cells[i].dataset.value; });
    const words = `${element.innerText} ${element.dataset.command}`.toLowerCase();
    return { element, place, values, words };
  });
  const chosen = { promised: "promised", controls: "what is controlled", method: "method", setting: "setting" };
  const numeric = new Set(["level", "measured", "share", "selects", "power", "runs"]);
  let order = { key: null, down: false };

  const label = (text, field) => {
    const out = document.createElement("label");
    out.append(text, field);
    form.append(out);
    return field;
  };
  const search = label("search", document.createElement("input"));
  search.type = "search";
  search.placeholder = "genotypes, AR(1) 0.9, …";
  const selects = {};
  for (const [key, text] of Object.entries(chosen)) {
    const field = label(text, document.createElement("select"));
    field.append(new Option("any", ""));
    if (key === "promised") field.append(new Option("proven or expected", "made"));
    for (const value of [...new Set(rows.map((row) => row.values[key]))].sort()) {
      field.append(new Option(value, value));
    }
    selects[key] = field;
  }
  const sort = label("sort by", document.createElement("select"));
  sort.append(new Option("as measured", ""));
  heads.forEach((head) => sort.append(new Option(head.textContent, head.dataset.key)));
  const clear = document.createElement("button");
  clear.type = "reset";
  clear.textContent = "show all";
  form.append(clear);

  const sorted = (key, down) => {
    order = { key, down };
    sort.value = key || "";
    show();
  };
  const fits = (row, key) => {
    const wanted = selects[key].value;
    if (wanted === "made") return ["proven", "expected"].includes(row.values.promised);
    return !wanted || row.values[key] === wanted;
  };
  const compare = (a, b) => {
    const [x, y] = [a.values[order.key], b.values[order.key]];
    if (x === y) return a.place - b.place;
    if (x === "" || y === "") return x === "" ? 1 : -1;
    const sign = order.down ? -1 : 1;
    return sign * (numeric.has(order.key) ? x - y : x.localeCompare(y, "en"));
  };

  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = rows.filter((row) =>
      Object.keys(chosen).every((key) => fits(row, key)) && words.every((word) => row.words.includes(word)));
    if (order.key) shown.sort(compare);
    table.tBodies[0].replaceChildren(...shown.map((row) => row.element));
    const above = shown.filter((row) => row.values.share > 1
      && ["proven", "expected"].includes(row.values.promised)).length;
    document.querySelector(".promise-count").textContent =
      `${shown.length} of ${rows.length} rows. Above the level that was promised: ${above}.`;
    const commands = [...new Set(shown.map((row) => row.element.dataset.command).filter(Boolean))];
    const line = document.querySelector(".promise-commands");
    line.replaceChildren(commands.length ? "These rows are made by " : "");
    commands.forEach((command, i) => {
      const code = document.createElement("code");
      code.className = "literal";
      code.textContent = command;
      line.append(i ? ", " : "", code);
    });
    heads.forEach((head) => {
      const way = head.dataset.key !== order.key ? "none" : order.down ? "descending" : "ascending";
      head.setAttribute("aria-sort", way);
    });
  };

  const remember = () => {
    const words = new URLSearchParams();
    if (search.value) words.set("search", search.value);
    for (const key of Object.keys(chosen)) if (selects[key].value) words.set(key, selects[key].value);
    const hash = words.toString();
    try { history.replaceState(null, "", hash ? `#${hash}` : location.pathname); } catch { /* a file */ }
  };
  const recall = () => {
    const words = new URLSearchParams(location.hash.slice(1));
    search.value = words.get("search") || "";
    for (const key of Object.keys(chosen)) {
      selects[key].value = words.get(key) || "";
      if (selects[key].selectedIndex < 0) selects[key].value = "";
    }
    show();
  };

  heads.forEach((head) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const key = head.dataset.key;
      sorted(key, order.key === key ? !order.down : numeric.has(key));
    });
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    // the largest numbers are what one looks for
    if (sort.value !== (order.key || "")) sorted(sort.value || null, numeric.has(sort.value));
    show();
    remember();
  });
  form.addEventListener("reset", () => setTimeout(() => { sorted(null, false); remember(); }));
  window.addEventListener("hashchange", recall);
  form.hidden = false;
  recall();
})();
