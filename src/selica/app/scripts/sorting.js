// A click on the head of a column sorts a table by it; a second click turns it round.
const told = text => {
  const found = /[-−]?\d[\d,]*\.?\d*(e[-+]?\d+)?/i.exec(text);
  return found ? Number(found[0].replace(/,/g, "").replace("−", "-")) : null;
};
const order = (cell, other) => {
  const [one, two] = [told(cell), told(other)];
  if (one !== null && two !== null) return one - two;
  if (one === null && two === null) return cell.localeCompare(other);
  return one === null ? 1 : -1;
};
const sort = event => {
  const head = event.target.closest?.(".selica-wide th");
  if (!head) return;
  const table = head.closest("table"), column = head.cellIndex;
  const rows = [...table.rows].filter(row => row.cells[0]?.tagName === "TD");
  const numeric = rows.some(row => told(row.cells[column]?.innerText ?? "") !== null);
  const up = head.dataset.up === undefined ? !(numeric && column) : head.dataset.up === "false";
  for (const other of table.querySelectorAll("th")) {
    delete other.dataset.up;
    other.removeAttribute("aria-sort");
  }
  head.dataset.up = String(up);
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const text = row => row.cells[column]?.innerText.trim() ?? "";
  rows.sort((one, other) => (up ? 1 : -1) * order(text(one), text(other)));
  rows[0]?.parentElement.append(...rows);
};
