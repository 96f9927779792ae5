// Builds elements. Text only ever goes in as text: whatever users supply cannot become
// markup.

const svgNS = "http://www.w3.org/2000/svg";

function fill(el, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) el.addEventListener(name.slice(2), value);
    else if (name === "vars") for (const [k, v] of Object.entries(value)) el.style.setProperty(k, v);
    else el.setAttribute(name, value === true ? "" : String(value));
  }
  el.append(...children.flat(Infinity).filter((c) => c !== undefined && c !== null && c !== false));
  return el;
}

/** An HTML element: attributes, "on…" listeners and "vars" (CSS properties) as props. */
export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);

/** The same in SVG. */
export const s = (tag, props, ...children) => fill(document.createElementNS(svgNS, tag), props, children);

export const byId = (id) => document.getElementById(id);

const focusable = "a[href], button, summary, select, input, [tabindex]";
const within = (el) => [...el.querySelectorAll(focusable)];
const find = (el, key) => [...el.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key);

/**
 * Remembers what within el is open, how far it is scrolled, and what has the focus, and brings that
 * back, in el or in what replaced it. What stands in something with a data-key is known by that key, whatever comes before it;
 * else by its place. Where what had the focus is gone, what took its place gets it, or el.
 */
export function remember(el) {
  const opened = [...el.querySelectorAll("details[data-key]")].map((one) => [one.dataset.key, one.open]);
  const scrolled = new Map([...el.querySelectorAll(".scroll")].map((box) => [box.ariaLabel, box.scrollLeft]));
  const focused = el.contains(document.activeElement) && el !== document.activeElement ? document.activeElement : null;
  const holder = focused?.closest("[data-key]");
  const place = focused ? within(el).indexOf(focused) : 0;
  const inHolder = holder ? within(holder).indexOf(focused) : -1; // of the holder itself -1
  return (now = el) => {
    for (const [key, open] of opened) {
      const again = find(now, key);
      if (again) again.open = open;
    }
    for (const box of now.querySelectorAll(".scroll")) box.scrollLeft = scrolled.get(box.ariaLabel) ?? 0;
    if (!focused) return;
    const again = holder && find(now, holder.dataset.key);
    const all = within(now);
    const target = (again && (inHolder < 0 ? again : within(again)[inHolder])) ?? all[Math.min(place, all.length - 1)];
    if (!target) now.tabIndex = -1;
    (target ?? now).focus({ preventScroll: true });
  };
}

/**
 * Draws into el when what it is drawn from has changed, so that a page that refreshes
 * itself leaves alone what stays: selection, open details. What had the focus has it again.
 */
export function drawOnChange(el, input, draw) {
  const key = JSON.stringify(input);
  if (el.drawnFrom === key) return false;
  el.drawnFrom = key;
  const restore = remember(el);
  el.replaceChildren(...[draw()].flat(Infinity).filter(Boolean));
  restore();
  return true;
}

/**
 * Makes the children of el those of items, in their order. A child is kept, with all that is open or chosen in it, while its item has the
 * same key and the same content; else make draws it anew.
 */
export function drawItems(el, items, keyOf, contentOf, make) {
  const restore = remember(el);
  const had = new Map([...el.children].map((child) => [child.drawnKey, child]));
  const children = items.map((item) => {
    const [key, content] = [keyOf(item), JSON.stringify(contentOf(item))];
    const old = had.get(key);
    had.delete(key);
    return old?.drawnFrom === content ? old : Object.assign(make(item), { drawnKey: key, drawnFrom: content });
  });
  const keep = new Set(children);
  for (const child of [...el.children]) if (!keep.has(child)) child.remove();
  children.forEach((child, i) => {
    if (el.children[i] !== child) el.insertBefore(child, el.children[i] ?? null);
  });
  restore();
  return children;
}

/** A box that scrolls sideways and can be reached by keyboard. */
export const scrollBox = (label, ...children) =>
  h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": label }, ...children);
