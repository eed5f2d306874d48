// A chart in the place that holds its data: values under the pointer, a frozen setting, files.
const INK = "#1c2630";
const kept = (window.selicaFrozen ??= {});

const valueAt = (line, at, log) => {
  const after = line.x.findIndex(x => x >= at);
  if (after < 0 || line.x[0] > at) return null;
  if (after === 0 || line.x[after] === at) return line.y[after];
  const map = log ? Math.log : Number, [from, to] = [line.x[after - 1], line.x[after]].map(map);
  const share = (map(at) - from) / (to - from || 1);
  const [low, high] = [line.y[after - 1], line.y[after]];
  return low === null || high === null ? null : low + share * (high - low);
};

const download = (name, blob) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};
const filed = (data, frozen, kind) => {
  const drawn = picture(data, { width: 960, ink: INK, paper: "#ffffff", frozen });
  const svg = new Blob([drawn.text], { type: "image/svg+xml" });
  if (kind === "svg") return download(`${data.file}.svg`, svg);
  const image = new Image(), address = URL.createObjectURL(svg);
  image.onload = () => {
    const sheet = document.createElement("canvas");
    [sheet.width, sheet.height] = [2 * drawn.width, 2 * drawn.height];
    sheet.getContext("2d").drawImage(image, 0, 0, sheet.width, sheet.height);
    URL.revokeObjectURL(address);
    sheet.toBlob(blob => download(`${data.file}.png`, blob), "image/png");
  };
  image.src = address;
};

const shown = (data, drawn, frozen, at) => {
  const row = (line, value, old) => {
    const figure = number => (number === null ? "–" : number.toFixed(data.y.digits ?? 3));
    const was = old === undefined ? "" : `<td class="was">${figure(old)}</td>`;
    return `<tr><td><i style="background:${tint(line, "currentColor")}"></i>` +
      `${escaped(line.label)}</td><td>${figure(value)}</td>${was}</tr>`;
  };
  const values = data.lines.filter(line => line.x.length)
    .map(line => [line, valueAt(line, at, data.x.log)])
    .filter(([, value]) => value !== null).sort((one, other) => other[1] - one[1]);
  if (!values.length) return "";
  const rows = values.map(([line, value]) => {
    const old = frozen?.lines.find(one => one.label === line.label);
    return row(line, value, frozen ? (old ? valueAt(old, at, data.x.log) : null) : undefined);
  });
  const head = frozen ? '<th></th><th>now</th><th class="was">frozen</th>' : "";
  return `<b>${escaped(data.x.label)} ${short(at, 4)}</b><table><tr>${head}</tr>${rows.join("")}</table>`;
};

// A point under the pointer: what it is, and where.
const NEAR = 9; // pixels
const pointed = (data, drawn, left, top) => {
  const far = point => Math.hypot(drawn.x.at(point.x) - left, drawn.y.at(point.y) - top);
  const near = (data.points ?? []).filter(point => point.label && far(point) <= NEAR);
  if (!near.length) return "";
  const figure = (axis, value) => (axis.log ? short(value, 6) : value.toFixed(axis.digits ?? 3));
  const row = point => `<tr><td><i style="background:${tint(point, "currentColor")}"></i>` +
    `${escaped(point.label)}</td><td>${figure(data.x, point.x)}</td>` +
    `<td>${figure(data.y, point.y)}</td></tr>`;
  const name = axis => escaped(axis.label.replace(/ \(.*/, ""));
  return `<table><tr><th></th><th>${name(data.x)}</th><th>${name(data.y)}</th></tr>` +
    `${near.sort((one, other) => far(one) - far(other)).map(row).join("")}</table>`;
};

// The colour behind a chart, which Streamlit tells its components.
let ground = () => "Canvas";

const charted = place => {
  const root = document.createElement("div");
  root.className = "selica-chart";
  root.innerHTML = '<div class="selica-chart-head"><b></b><span>' +
    '<button type="button" data-do="freeze"></button><button type="button" data-do="png" ' +
    'title="Download as a picture with title, setting and legend">PNG</button>' +
    '<button type="button" data-do="svg" title="Download as a drawing with title, setting and ' +
    'legend">SVG</button></span></div><div class="selica-chart-body"><div class="drawing"></div>' +
    '<div class="cross" hidden></div><div class="tip" hidden></div></div>';
  place.replaceChildren(root);
  const part = name => root.querySelector(name), data = JSON.parse(place.dataset.chart);
  const state = { drawn: null, strong: "" };
  const draw = () => {
    const width = Math.floor(part(".selica-chart-body").clientWidth);
    if (!width) return;
    const frozen = kept[data.file] ?? null;
    const font = getComputedStyle(root).fontFamily;
    state.drawn = picture(data, { width, ink: "currentColor", frozen, strong: state.strong, font });
    part(".drawing").innerHTML = state.drawn.text;
    part(".selica-chart-head b").textContent = data.title;
    const button = part("[data-do=freeze]");
    button.hidden = data.freezable === false;
    button.textContent = frozen ? "Unfreeze" : "Freeze";
    button.title = frozen ? "Forget the frozen curves"
      : "Keep these curves, to compare them with the next setting";
  };
  const away = () => {
    part(".tip").hidden = part(".cross").hidden = true;
  };
  const point = event => {
    const { drawn } = state, box = part(".drawing").getBoundingClientRect();
    const [left, top] = [event.clientX - box.left, event.clientY - box.top];
    if (!drawn || left < drawn.left || left > drawn.right || top < drawn.top || top > drawn.low)
      return away();
    const text = pointed(data, drawn, left, top) ||
      shown(data, drawn, kept[data.file], drawn.x.back(left));
    if (!text) return away();
    const tip = part(".tip"), cross = part(".cross");
    tip.innerHTML = text;
    tip.style.background = ground();
    tip.hidden = cross.hidden = false;
    Object.assign(cross.style, {
      left: `${left}px`, top: `${drawn.top}px`, height: `${drawn.low - drawn.top}px`,
    });
    const beside = left + 14 + tip.offsetWidth > drawn.width ? left - 14 - tip.offsetWidth : left + 14;
    tip.style.left = `${Math.max(beside, 0)}px`;
    tip.style.top = `${Math.max(Math.min(top, drawn.low - tip.offsetHeight), 0)}px`;
  };
  const stress = label => {
    if (label === state.strong) return;
    state.strong = label;
    draw();
  };
  root.addEventListener("pointermove", event => {
    stress(event.target.closest?.(".label")?.dataset.label ?? "");
    point(event);
  });
  root.addEventListener("pointerdown", point); // a finger does not move before it touches
  root.addEventListener("pointerleave", () => (away(), stress("")));
  root.addEventListener("click", event => {
    const asked = event.target.closest?.("[data-do]")?.dataset.do;
    if (asked === "freeze") {
      if (kept[data.file]) delete kept[data.file];
      else kept[data.file] = { lines: data.lines, setting: data.setting };
      draw();
    } else if (asked) filed(data, kept[data.file], asked);
  });
  new ResizeObserver((_, watch) => (root.isConnected ? draw() : watch.disconnect())).observe(
    part(".selica-chart-body"),
  );
  draw();
};
