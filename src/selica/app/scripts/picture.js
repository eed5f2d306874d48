// A chart as the text of an SVG: the same for the screen and for a file.
const FONT = "system-ui, -apple-system, 'Segoe UI', 'Source Sans Pro', Arial, sans-serif";
const GRID = "rgba(128,140,155,0.28)", MARK = "#8a949e";
const canvas = document.createElement("canvas").getContext("2d");
const escaped = text => String(text).replace(/[&<>"']/g, sign => `&#${sign.charCodeAt(0)};`);
let face = FONT; // of the picture that is drawn now
const widthOf = (text, size, weight = 400) => {
  canvas.font = `${weight} ${size}px ${face}`;
  return canvas.measureText(text).width;
};
const rounded = value => Math.round(value * 100) / 100;
const short = (value, digits = 3) => {
  if (value === null || !Number.isFinite(value)) return "";
  if (Math.abs(value) >= 1e6) return `${Number((value / 1e6).toPrecision(digits))}M`;
  if (Math.abs(value) >= 1e4) return `${Number((value / 1e3).toPrecision(digits))}k`;
  return String(Number(value.toPrecision(digits)));
};

// Lines of words that are no wider than what there is room for.
const wrapped = (text, size, room) => {
  const lines = [];
  for (const word of text.split(" ")) {
    const last = lines.length ? `${lines[lines.length - 1]} ${word}` : word;
    if (lines.length && widthOf(last, size) <= room) lines[lines.length - 1] = last;
    else lines.push(word);
  }
  return lines;
};

const steps = (low, high, wanted) => {
  const raw = (high - low) / wanted, unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(part => part * unit).find(part => part >= raw);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + 1e-9 * step; at += step)
    found.push(Number(at.toPrecision(12)));
  return found;
};
const decades = (low, high, room) => {
  const every = Math.log10(high / low) * 3 > room ? [1] : [1, 2, 5], found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1)
    for (const digit of every) found.push(digit * 10 ** power);
  const inside = found.filter(at => at >= low * 0.999 && at <= high * 1.001);
  return inside.length > 1 ? inside : steps(low, high, 4);
};

const scale = (axis, ends, low, high) => {
  const map = axis.log ? Math.log : Number, [from, to] = ends.map(map);
  const per = (high - low) / (to - from || 1);
  return {
    at: value => low + (map(value) - from) * per,
    back: place => (axis.log ? Math.exp : Number)(from + (place - low) / per),
  };
};
const endsOf = (axis, values) => {
  if (axis.domain) return axis.domain;
  const found = values.filter(Number.isFinite);
  return found.length ? [Math.min(...found), Math.max(...found)] : [axis.log ? 1 : 0, 10];
};

// A smooth curve through points that overshoots nowhere (Fritsch and Carlson).
const curve = points => {
  const count = points.length;
  if (count < 3) return `M${points.map(point => point.map(rounded).join(",")).join("L")}`;
  const slope = [], width = [], tangent = [];
  for (let k = 0; k + 1 < count; k += 1) {
    width.push(points[k + 1][0] - points[k][0] || 1e-9);
    slope.push((points[k + 1][1] - points[k][1]) / width[k]);
  }
  for (let k = 0; k < count; k += 1) {
    const [before, after] = [slope[Math.max(k - 1, 0)], slope[Math.min(k, count - 2)]];
    const size = Math.min(Math.abs(before), Math.abs(after), Math.abs(before + after) / 4);
    tangent.push(before * after <= 0 ? 0 : 2 * Math.sign(before) * size);
  }
  tangent[0] = slope[0];
  tangent[count - 1] = slope[count - 2];
  let path = `M${points[0].map(rounded).join(",")}`;
  for (let k = 0; k + 1 < count; k += 1) {
    const [[x, y], [end, level], third] = [points[k], points[k + 1], width[k] / 3];
    const parts = [x + third, y + tangent[k] * third, end - third, level - tangent[k + 1] * third];
    path += `C${[...parts, end, level].map(rounded).join(",")}`;
  }
  return path;
};
const known = (line, x, y) =>
  line.x.map((at, k) => [x.at(at), y.at(line.y[k])]).filter(point => point.every(Number.isFinite));

// Labels at the ends of curves, moved apart until none covers another.
const apart = (labels, low, high, gap) => {
  labels.sort((one, other) => one.y - other.y);
  labels.forEach((one, k) => {
    one.at = Math.max(one.y, k ? labels[k - 1].at + gap : low);
  });
  for (let k = labels.length - 1; k >= 0; k -= 1) {
    const most = k + 1 < labels.length ? labels[k + 1].at - gap : high;
    labels[k].at = Math.min(labels[k].at, most);
  }
  return labels;
};

const swatch = (x, y, line, ink) =>
  `<line x1="${x}" y1="${y}" x2="${x + 20}" y2="${y}" stroke="${tint(line, ink)}" ` +
  `stroke-width="2.5" stroke-dasharray="${(line.dash ?? []).join(" ")}"/>`;
const tint = (line, ink) => (/^#0{3,6}$/.test(line.colour) ? ink : line.colour);

// Return the text of the picture, and where values are in it.
const picture = (data, { width, ink, paper, frozen, strong, font }) => {
  face = font ?? FONT;
  const narrow = width < 560, filed = Boolean(paper);
  const size = filed ? 12.5 : narrow ? 13 : 13.5;
  const named = data.lines.filter(line => line.x.length);
  const labelled = !narrow && data.at_ends !== false;
  const parts = [], write = (x, y, text, more = "") =>
    parts.push(`<text x="${rounded(x)}" y="${rounded(y)}" ${more}>${escaped(text)}</text>`);

  let top = 8;
  const title = filed ? wrapped(data.title, 16, width - 90) : [];
  for (const text of title) write(12, (top += 18), text, 'font-size="15" font-weight="600"');
  const said = filed || frozen ? data.setting : "";
  for (const text of said ? wrapped(said, size, width - 24) : [])
    write(12, (top += 17), text, 'fill-opacity="0.75"');
  const before = frozen ? wrapped(`Frozen, pale and dotted: ${frozen.setting}`, size, width - 24) : [];
  for (const text of before) write(12, (top += 17), text, 'fill-opacity="0.6"');
  top += 14;

  const room = labelled ? Math.max(0, ...named.map(line => widthOf(line.label, size))) + 34 : 14;
  const left = 54, right = width - Math.max(room, 14), low = top + (data.height ?? 340);
  const every = [...data.lines, ...(frozen?.lines ?? []), ...(data.areas ?? [])];
  const ends = endsOf(data.x, every.flatMap(line => line.x));
  const x = scale(data.x, ends, left, right);
  const levels = endsOf(data.y, every.flatMap(line => line.y ?? line.high));
  const y = scale(data.y, levels, low, top);
  const inside = data.x.log ? decades(...ends, narrow ? 5 : 12) : steps(...ends, narrow ? 5 : 8);
  for (const at of inside) {
    const place = rounded(x.at(at));
    parts.push(`<line x1="${place}" y1="${top}" x2="${place}" y2="${low}" stroke="${GRID}"/>`);
    write(place, low + 18, short(at), 'text-anchor="middle" fill-opacity="0.75"');
  }
  for (const at of data.y.bare ? [] : steps(...levels, 5)) {
    const place = rounded(y.at(at));
    parts.push(`<line x1="${left}" y1="${place}" x2="${right}" y2="${place}" stroke="${GRID}"/>`);
    write(left - 8, place + 4, short(at), 'text-anchor="end" fill-opacity="0.75"');
  }
  write((left + right) / 2, low + 38, data.x.label, 'text-anchor="middle"');
  const middle = (top + low) / 2;
  write(14, middle, data.y.label, `text-anchor="middle" transform="rotate(-90 14 ${middle})"`);

  parts.push(`<clipPath id="${data.file}"><rect x="${left}" y="${top - 3}" width="${right - left}" ` +
    `height="${low - top + 6}"/></clipPath><g clip-path="url(#${data.file})">`);
  for (const area of data.areas ?? []) {
    const upper = area.x.map((at, k) => [x.at(at), y.at(area.high[k])]);
    const path = [...upper, [x.at(area.x.at(-1)), low], [x.at(area.x[0]), low]];
    parts.push(`<path d="M${path.map(point => point.map(rounded).join(",")).join("L")}Z" ` +
      `fill="${area.colour}" fill-opacity="${area.opacity ?? 0.35}"/>`);
  }
  const dim = line => (strong && line.label !== strong ? 0.2 : 1);
  for (const line of frozen?.lines ?? [])
    parts.push(`<path class="frozen" d="${curve(known(line, x, y))}" fill="none" ` +
      `stroke="${tint(line, ink)}" stroke-width="1.6" stroke-opacity="${0.5 * dim(line)}" ` +
      'stroke-dasharray="1.5 3"/>');
  for (const line of named)
    parts.push(`<path class="curve" d="${curve(known(line, x, y))}" fill="none" ` +
      `stroke="${tint(line, ink)}" stroke-width="${line.label === strong ? 3.2 : 2}" ` +
      `stroke-opacity="${dim(line)}" stroke-dasharray="${(line.dash ?? []).join(" ")}"/>`);
  parts.push("</g>");
  for (const rule of data.rules ?? []) {
    const upright = rule.axis === "x", at = rounded((upright ? x : y).at(rule.at));
    if (upright ? at < left - 1 || at > right + 1 : at < top - 1 || at > low + 1) continue;
    const where = upright ? [at, top, at, low] : [left, at, right, at];
    const [a, b, c, d] = where;
    parts.push(`<line x1="${a}" y1="${b}" x2="${c}" y2="${d}" stroke="${MARK}" ` +
      'stroke-width="1.4" stroke-dasharray="4 3"/>');
    if (!rule.label) continue;
    const back = upright && (rule.back || at + widthOf(rule.label, size) + 8 > right);
    const anchor = back ? "end" : "start";
    write(upright ? at + (back ? -5 : 5) : left + 5, upright ? top + 18 : at - 5, rule.label,
      `text-anchor="${anchor}" fill-opacity="0.75"`);
  }
  for (const point of data.points ?? []) {
    const [cx, cy] = [rounded(x.at(point.x)), rounded(y.at(point.y))];
    if (cx < left - 1 || cx > right + 1) continue;
    parts.push(`<circle class="point" cx="${cx}" cy="${cy}" r="4.5" fill="${tint(point, ink)}"/>`);
  }

  let end = low + 50;
  if (labelled) {
    const labels = named.map(line => {
      const last = known(line, x, y).filter(point => point[0] <= right + 0.5).at(-1);
      return last && { line, x: last[0], y: Math.min(Math.max(last[1], top), low) };
    }).filter(Boolean);
    for (const one of apart(labels, top + 4, low, size + 4)) {
      const start = right + 6, faded = dim(one.line);
      parts.push(`<g class="label" data-label="${escaped(one.line.label)}" opacity="${faded}">` +
        `<path d="M${rounded(one.x)},${rounded(one.y)}L${start},${rounded(one.at)}" fill="none" ` +
        `stroke="${MARK}" stroke-opacity="0.6" stroke-width="0.8"/>`);
      parts.push(swatch(start, rounded(one.at), one.line, ink));
      write(start + 25, one.at + 4, one.line.label);
      parts.push("</g>");
    }
  } else {
    let at = 12;
    end = low + 62;
    for (const line of [...named, ...(data.areas ?? []).filter(area => area.label)]) {
      const long = widthOf(line.label, size) + 46;
      if (at > 12 && at + long > width) [at, end] = [12, end + 19];
      parts.push(`<g class="label" data-label="${escaped(line.label)}" opacity="${dim(line)}">`);
      parts.push(line.high
        ? `<rect x="${at}" y="${end - 10}" width="20" height="11" fill="${line.colour}" ` +
          `fill-opacity="${line.opacity ?? 0.35}"/>`
        : swatch(at, end - 4, line, ink));
      write(at + 26, end, line.label);
      parts.push("</g>");
      at += long;
    }
    end += 10;
  }
  if (data.points_label && data.points?.length) {
    end += 10;
    parts.push(`<circle cx="18" cy="${end - 4}" r="4.5" fill="${MARK}"/>`);
    for (const text of wrapped(data.points_label, size, width - 44)) {
      write(30, end, text);
      end += 17;
    }
  }
  const back = filed ? `<rect width="100%" height="100%" fill="${paper}"/>` : "";
  const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${end}" ` +
    `viewBox="0 0 ${width} ${end}" font-family="${escaped(face)}" font-size="${size}" fill="${ink}" role="img" ` +
    `aria-label="${escaped(`${data.title}. ${data.setting}`)}">${back}${parts.join("")}</svg>`;
  return { text, x, y, ends, left, right, top, low, width, height: end };
};
