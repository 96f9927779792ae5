// The log of a webhook's deliveries, and the result of a test.

import { h } from "../dom.js";
import { ms, none, words } from "../format.js";
import { notice } from "../parts.js";
import { when } from "./credentials.js";
import { appPath, Problem, send } from "./manage.js";
import { actionButton } from "./perform.js";
import { scrolledTable } from "./table.js";

const tones = { delivered: "success", pending: "pending", dead: "bad" };
const testEveryMs = 500;
const testTries = 40;

const pause = (ms) => new Promise((later) => setTimeout(later, ms));

/** Sends a request about a webhook. Collectors know a webhook up to 2 s after it was made. */
async function about(app, hook, method, more, options) {
  for (let tries = 0; ; tries++) {
    try {
      return await send(method, appPath(app, "webhooks", hook, ...more), options);
    } catch (error) {
      if (error.status !== 404 || tries >= 5) throw error;
    }
    await pause(testEveryMs);
  }
}

const attempt = (d) => d.error || (d.status ? `status ${d.status}` : ""); // an error of an answer names its status

function row(app, hook, d, reload, area) {
  const replay = async () => {
    area.replaceChildren();
    try {
      await send("POST", appPath(app, "webhooks", hook, "deliveries", d.id, "replay"), { body: {} });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      area.replaceChildren(notice(error.message));
      return;
    }
    await reload();
  };
  return h("tr", { "data-testid": "delivery", "data-id": d.id, "data-state": d.state },
    h("td", {}, when(d.createdAt)), h("td", {}, words(d.reason)),
    h("td", {}, h("span", { class: `pill plain ${tones[d.state]}` }, d.state)),
    h("td", {}, d.attempts > 0 ? attempt(d) || none : "not sent yet"), h("td", {}, d.attempts > 0 ? ms(d.latencyMs) : none), h("td", {}, d.attempts),
    h("td", { class: "row-actions" }, d.state === "dead" && actionButton("Deliver again", replay, { "data-testid": "replay", "aria-label": `Deliver again: notification ${d.id}` })));
}

/** The log of a webhook: an element that is filled when it is opened, and a function that shows the newest again. */
export function deliveries(app, hook) {
  const area = h("div", { class: "answer" });
  const body = h("div", { class: "deliveries" });
  const state = h("select", { "aria-label": `Deliveries of webhook ${hook} by state` }, ["", "pending", "delivered", "dead"].map((one) => h("option", { value: one }, one || "all states")));
  const shown = h("div");
  let rows = [];
  const more = h("div", { class: "actions" });
  const draw = (page) => {
    rows.push(...page.deliveries.map((one) => row(app, hook, one, reload, area)));
    shown.replaceChildren(rows.length > 0 ? scrolledTable(`deliveries of webhook ${hook}`, ["Made", "Reason", "State", "Last attempt", "Latency", "Attempts", ""], rows) : h("p", { class: "muted" }, "No deliveries."));
    more.replaceChildren(...(page.next ? [actionButton("Older", () => load(page.next), { "data-testid": "older" })] : []));
  };
  const load = async (before) => {
    area.replaceChildren();
    try {
      const page = await about(app, hook, "GET", ["deliveries"], { query: { limit: 20, state: state.value, before } });
      if (!before) rows = [];
      draw(page);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      area.replaceChildren(notice(error.message, () => load(before)));
    }
  };
  const reload = () => load();
  state.addEventListener("change", reload);
  body.append(h("div", { class: "actions" }, state, actionButton("Refresh", reload, { "data-testid": "refresh" })), area, shown, more);
  const element = h("details", { "data-testid": "deliveries", "data-key": `deliveries ${hook}`, ontoggle: () => element.open && reload() }, h("summary", {}, "Deliveries"), body);
  return { element, reload: async () => element.open && reload() };
}

/** Sends a test and returns the result of its first attempt in words. It throws if the attempt failed. */
export async function testResult(app, hook, log) {
  const { id } = await about(app, hook, "POST", ["test"], { body: {} });
  for (let n = 0; n < testTries; n++) {
    const { deliveries: newest } = await about(app, hook, "GET", ["deliveries"], { query: { limit: 50 } });
    const found = newest.find((one) => one.id === id);
    if (found?.attempts > 0) {
      await log.reload();
      if (found.state === "delivered") return `The receiver answered with status ${found.status} after ${ms(found.latencyMs)}.`;
      throw new Problem(`The test failed: ${attempt(found)}.${found.state === "pending" ? " It is tried again later." : ""}`, found.status ?? 0);
    }
    await pause(testEveryMs);
  }
  throw new Problem("The test waits for delivery. Notifications are delivered by the qoswebhook exporter: see that a collector has it in a pipeline.", 0);
}
