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

const focusable = "a[href], button, summary, select, input, [tabindex='0']";

/** Remembers what has the focus within el, and how far it is scrolled, and brings that back. */
function remember(el) {
  const scrolled = [...el.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
  const focused = el.contains(document.activeElement) ? document.activeElement : null;
  const place = focused ? [...el.querySelectorAll(focusable)].indexOf(focused) : -1;
  const { key } = focused?.dataset ?? {};
  return () => {
    [...el.querySelectorAll(".scroll")].forEach((box, i) => { box.scrollLeft = scrolled[i] ?? 0; });
    if (!focused) return;
    const all = [...el.querySelectorAll(focusable)];
    (key ? all.find((one) => one.dataset.key === key) : all[place])?.focus({ preventScroll: true });
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

/** A box that scrolls sideways and can be reached by keyboard. */
export const scrollBox = (label, ...children) =>
  h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": label }, ...children);
