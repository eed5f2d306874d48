// Controls of a tab: a slider and a typed number for each value, lists, texts.
// One message at a time: the next leaves when the answer to the last is drawn, or after a second.
const QUIET = 700; // ms after the last key until a setting counts as chosen
const MANTISSAS = [
  ...Array.from({ length: 20 }, (_, k) => 1 + k / 20),
  ...Array.from({ length: 30 }, (_, k) => 2 + k / 10),
  ...Array.from({ length: 25 }, (_, k) => 5 + k / 5),
];

// Values that a slider stops at.
const stops = field => {
  const found = [];
  if (field.log) {
    for (let power = Math.floor(Math.log10(field.low)); power <= Math.log10(field.high); power += 1)
      found.push(...MANTISSAS.map(part => part * 10 ** power));
  } else {
    const count = Math.round((field.high - field.low) / field.step);
    for (let k = 0; k <= count; k += 1) found.push(field.low + k * field.step);
  }
  const plain = found.map(value => (field.whole ? Math.round(value) : Number(value.toPrecision(6))));
  const inside = plain.filter(value => value > field.low && value < field.high);
  return [...new Set([field.low, ...inside, field.high])];
};
const nearest = (list, value) => {
  let best = 0;
  list.forEach((stop, k) => {
    if (Math.abs(stop - value) < Math.abs(list[best] - value)) best = k;
  });
  return best;
};
const written = (field, value) =>
  field.whole ? Number(value).toLocaleString("en-US") : String(Number(Number(value).toPrecision(6)));
const read = (field, text) => {
  const bare = text.replace(/\s/g, "");
  const value = Number(field.whole ? bare.replace(/,/g, "") : bare.replace(",", "."));
  if (bare === "" || !Number.isFinite(value) || value < field.low || value > field.high) return null;
  return field.whole && !Number.isInteger(value) ? null : value;
};

const element = (name, attributes = {}, ...inner) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inner);
  return made;
};

// A field with the parts it has: an object that can show a value and tell one.
const numbered = (field, tell) => {
  const id = `selica-${field.key}`;
  const typed = element("input", { type: "text", inputmode: "decimal", id, autocomplete: "off" });
  const slide = element("input", { type: "range", min: 0, step: 1, "aria-label": field.label });
  const wrong = element("small", { class: "wrong", role: "alert", hidden: "" });
  let list = [], now = field, held = false, clock = 0;
  const show = value => {
    typed.value = written(now, value);
    slide.value = nearest(list, value);
    slide.setAttribute("aria-valuetext", typed.value);
    wrong.hidden = true;
  };
  slide.addEventListener("pointerdown", () => (held = true));
  slide.addEventListener("input", () => {
    const value = list[Number(slide.value)];
    typed.value = written(now, value);
    slide.setAttribute("aria-valuetext", typed.value);
    wrong.hidden = true;
    clearTimeout(clock);
    tell(field.key, value, true);
  });
  slide.addEventListener("change", () => {
    const value = list[Number(slide.value)];
    clearTimeout(clock);
    if (held) tell(field.key, value, false);
    else clock = setTimeout(() => tell(field.key, value, false), QUIET);
    held = false;
  });
  typed.addEventListener("change", () => {
    const value = read(now, typed.value);
    wrong.hidden = value !== null;
    if (value === null) {
      const kind = now.whole ? "a whole number" : "a number";
      wrong.textContent = `Type ${kind} from ${written(now, now.low)} to ${written(now, now.high)}.`;
      return;
    }
    show(value);
    tell(field.key, value, false);
  });
  typed.addEventListener("focus", () => typed.select());
  const label = element("label", { for: id }, field.label);
  return {
    parts: [element("div", { class: "row" }, label, typed), slide, wrong],
    is_held: () => held,
    take: (next, value) => {
      now = next;
      list = stops(next);
      slide.max = list.length - 1;
      if (value !== undefined) show(value);
    },
  };
};
const listed = (field, tell) => {
  const id = `selica-${field.key}`, box = element("select", { id });
  box.addEventListener("change", () => tell(field.key, box.value, false));
  return {
    parts: [element("label", { for: id }, field.label), box],
    is_held: () => false,
    take: (next, value) => {
      const options = next.options.map(([name, text]) => element("option", { value: name }, text));
      box.replaceChildren(...options);
      if (value !== undefined) next.value = value;
      box.value = next.value;
    },
  };
};
const texted = (field, tell) => {
  const id = `selica-${field.key}`;
  const box = element("input", { type: "text", id, class: "long", autocomplete: "off" });
  const wrong = element("small", { class: "wrong", role: "alert" });
  const label = element("label", { for: id });
  box.addEventListener("change", () => tell(field.key, box.value, false));
  return {
    parts: [label, box, wrong],
    is_held: () => false,
    take: (next, value) => {
      label.textContent = next.label;
      box.placeholder = next.example ?? "";
      wrong.textContent = next.wrong ?? "";
      wrong.hidden = !next.wrong;
      if (value !== undefined) box.value = value;
    },
  };
};
const KINDS = { number: numbered, choice: listed, text: texted };

const built = (place, first) => {
  const root = element("div", { class: "selica-panel" });
  place.append(root);
  const fields = new Map(), state = { say: null, count: first.count };
  let values = {}, waiting = null, since = 0;
  const firsts = {};
  const send = () => {
    if (!waiting || (since && performance.now() < since + 1000)) return;
    const message = waiting;
    waiting = null;
    since = performance.now();
    state.say("told", message);
  };
  // what is chosen goes into the address, as an entry in the history
  const write = () => {
    const parts = new URLSearchParams(location.search), before = parts.toString();
    for (const [key, value] of Object.entries(values))
      if (value === firsts[key]) parts.delete(key);
      else parts.set(key, value);
    if (parts.toString() !== before)
      history.pushState(history.state, "", `${location.pathname}?${parts}${location.hash}`);
  };
  const tell = (key, value, held) => {
    const other = values[key] !== value;
    values = { ...values, [key]: value };
    if (!held) write();
    if (!other) return;
    state.count += 1;
    waiting = { values, count: state.count };
    send();
  };
  const clock = setInterval(send, 40);
  const drawn = new MutationObserver(changes => {
    if (changes.some(one => one.target.closest?.(".st-key-answers"))) since = 0;
  });
  drawn.observe(document.body, { subtree: true, childList: true });
  state.follow = data => {
    // an answer to an older question says nothing about what is set now
    const settled = data.count === state.count && !waiting;
    const focus = document.activeElement, places = [];
    for (const field of data.fields) {
      let one = fields.get(field.key);
      if (!one) {
        one = KINDS[field.kind](field, tell);
        one.place = element("div", { class: "field", "data-key": field.key }, ...one.parts);
        one.note = element("small", { class: "note" });
        one.place.append(one.note);
        fields.set(field.key, one);
        one.fresh = true;
      }
      firsts[field.key] = field.first;
      one.note.textContent = field.note ?? "";
      one.note.hidden = !field.note;
      const follow = one.fresh || (settled && !one.is_held());
      one.take(field, follow ? field.value : undefined);
      one.fresh = false;
      if (follow) values[field.key] = field.value;
      places.push(one.place);
    }
    const keys = new Set(data.fields.map(field => field.key));
    for (const key of [...fields.keys()].filter(name => !keys.has(name))) {
      fields.delete(key);
      delete values[key];
    }
    if (places.length !== root.children.length || places.some((one, k) => root.children[k] !== one)) {
      root.replaceChildren(...places);
      if (root.contains(focus)) focus.focus({ preventScroll: true });
    }
  };
  state.end = () => {
    clearInterval(clock);
    drawn.disconnect();
    root.remove();
  };
  return state;
};

export default function ({ data, parentElement, setTriggerValue }) {
  parentElement.panel ??= built(parentElement, data);
  parentElement.panel.say = setTriggerValue;
  parentElement.panel.follow(data);
  return () => {
    parentElement.panel?.end();
    delete parentElement.panel;
  };
}
