// Pre-call tests as a table.

import { h, scrollBox } from "./dom.js";
import { ago, browser, date, duration, kbps, ms, percent, words } from "./format.js";
import { time, userText } from "./parts.js";

const cell = (name, ...children) => h("td", { "data-name": name }, h("div", {}, ...children));
const sub = (...children) => children.some(Boolean) && h("span", { class: "sub" }, ...children);
const bit = (word, text) => h("span", { class: "figure" }, `${word} `, h("b", {}, text));

/** Round-trip time, loss and throughput of a test or of a provider. */
const figures = (r) => [bit("RTT", ms(r.rttMs)), " ", bit("loss", percent(r.lossFraction)), " ", bit("throughput", kbps(r.throughputBps === null ? null : r.throughputBps / 1000))];

function transport(t) {
  return h("li", { class: "small muted" }, t.relayProtocol.toUpperCase(), t.connected ? ` connected${t.connectMs === null ? "" : ` in ${ms(t.connectMs)}`}` : [" not connected", t.error && [": ", h("bdi", {}, t.error)]]);
}

/** Why a provider is not acceptable, by the words of docs/library.md. */
const reasons = {
  badUrl: "the browser takes none of its URLs", nameNotResolved: "its name has no address", unreachable: "no answer", credentials: "credentials refused",
  noRelay: "it answers, and grants no relay", relayBlocked: "its relay passes nothing on", tooSlow: "too slow to finish", notTested: "the test ended before",
  roundTrip: "round trip too long", loss: "too much loss", jitter: "too much jitter", throughput: "too little throughput", other: "another reason",
};

function provider(p) {
  return h("li", { "data-testid": "provider", "data-provider": p.provider },
    h("bdi", {}, h("b", {}, p.provider)), " ", h("span", { class: `pill ${p.acceptable ? "success" : "totallyFailed"}` }, p.acceptable ? "Acceptable" : "Not acceptable"),
    p.reason && h("span", { class: "sub", "data-testid": "reason" }, `Reason: ${reasons[p.reason] ?? reasons.other}`),
    h("span", { class: "sub" }, figures(p)), (p.transports ?? []).length > 0 && h("ul", {}, p.transports.map(transport)));
}

function row(test, now) {
  const details = test.participant.details ?? {};
  const user = new URLSearchParams({ app: test.app, user: test.participant.user });
  return h("tr", { "data-testid": "precall", "data-status": test.status },
    cell("Ended", time(test.endAt, date(test.endAt)), sub(`${ago(test.endAt, now)} · took ${duration(test.durationMs)}`), sub(words(test.trigger))),
    cell("Result", h("span", { class: `pill ${test.status === "success" ? "success" : "totallyFailed"}`, "data-testid": "status" }, test.status === "success" ? "Success" : "Failure"),
      test.interrupted && [" ", h("span", { class: "pill so-far", title: "A call or the application stopped the test: the results are partial." }, "Interrupted")],
      sub(figures(test)), sub(!test.mediaConnectivity && "No media connectivity"), sub(test.reason && h("bdi", {}, test.reason))),
    cell("Providers", h("ul", { class: "providers" }, (test.providers ?? []).map(provider)), (test.providers ?? []).length === 0 && h("span", { class: "muted" }, "None tested")),
    cell("User", h("a", { class: "plain", href: `user?${user}` }, h("bdi", {}, userText(test.participant))), sub(h("bdi", {}, test.app))),
    cell("Network", h("bdi", {}, test.networkType ?? "–"), sub(browser(details["user_agent.original"]))),
    cell("Site, version", h("bdi", {}, details["qos.site.id"] ?? "–"), sub(h("bdi", {}, details["qos.application.version"] ?? ""))));
}

const columns = ["Ended", "Result", "Providers", "User", "Network, browser", "Site, version"];

/** The table of an answer of api/precalls. */
export const preCallTable = (list) => scrollBox("Pre-call tests", h("table", { class: "history precalls" },
  h("caption", { class: "visually-hidden" }, "Pre-call tests, newest first"),
  h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col" }, name)))),
  h("tbody", {}, list.preCalls.map((test) => row(test, list.at)))));
