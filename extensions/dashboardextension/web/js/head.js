// The head of a conference's page: what became of it, in a few numbers and words.

import { askText, root } from "./api.js";
import { h } from "./dom.js";
import { capital, clock, date, decimal, duration, integer, mos, ms, none, percent, plural, statusOf } from "./format.js";
import { pill, time } from "./parts.js";

function tile(name, value, extra, kind) {
  return h("div", { class: `tile ${kind ?? ""}` }, h("dt", {}, name), h("dd", {}, h("b", {}, value), extra && h("span", { class: "extra" }, extra)));
}

/** Lets a long name break before its capitals. */
const breakable = (name) => name.replace(/([A-Z])/g, "\u200b$1");

const median = (values) => (values.length ? values[Math.floor((values.length - 1) / 2)] : null);

function gauge(value) {
  return h("span", { class: "gauge", "aria-hidden": "true" }, h("i", { vars: { "--share": String((value - 1) / 4) } }));
}

/** The score and its label, of a conference that goes on what they are so far. */
function scored({ conference: c, summary: s, soFar }) {
  const { mos: value = null, label } = soFar?.summary ? s : c;
  if (value !== null) return [value, label, capital(label)];
  return [null, "", soFar?.missing ? "comes at the end" : soFar ? "nothing to score yet" : "nothing to score"];
}

function scoreTile(detail) {
  const s = detail.summary;
  const [value, label, word] = scored(detail);
  const worst = s?.worstParticipant;
  return h("div", { class: `tile score-tile ${label ?? ""}`, "data-testid": "conference-score" }, h("dt", {}, "Score"),
    h("dd", {}, h("b", {}, value === null ? none : mos(value)), h("span", { class: "word" }, word), value !== null && gauge(value),
      h("span", { class: "extra" }, [value !== null && detail.soFar?.summary && "so far", worst && s.participants.length > 1 && `lowest ${mos(worst.mos)}, ${worst.alias || worst.userID || "unnamed"}`].filter(Boolean).join(" · "))));
}

/** What the summary says, or what the time-line of a live conference has come to so far. */
function counts({ summary: s, soFar, timeline, fabrics: known }) {
  const shown = { // a conference that goes on may be a little ahead of what it has come to
    errors: soFar ? timeline.filter((e) => e.kind === "error").length : 0,
    disruptions: soFar ? timeline.filter((e) => e.name === "iceDisruptionStart").length : 0,
  };
  if (s) {
    const fabrics = s.participants.flatMap((p) => p.fabrics ?? []);
    return {
      errors: Math.max(s.errors, shown.errors),
      disruptions: Math.max(shown.disruptions, fabrics.reduce((n, f) => n + (f.iceDisruptions ?? 0), 0)),
      setups: s.setupMs ?? [],
      connected: fabrics.filter((f) => f.state === "connected").length,
      total: Math.max(known.length, fabrics.length) - fabrics.filter((f) => f.state === "unused").length,
    };
  }
  const setups = timeline.filter((e) => e.name === "fabricSetup" && e.data?.setupMs != null).map((e) => e.data.setupMs).sort((a, b) => a - b);
  return {
    ...shown,
    setups,
    connected: setups.length,
    total: known.length,
  };
}

function tiles(detail) {
  const { conference: c, summary: s } = detail;
  const live = c.state === "live";
  const { errors, disruptions, setups, connected, total } = counts(detail);
  return h("dl", { class: "tiles card" },
    scoreTile(detail),
    tile("Duration", duration(live ? detail.at - c.startAt : c.durationMs), live ? "so far" : `${clock(c.startAt)} – ${clock(c.endAt)}`),
    tile("Participants", integer(c.participantCount), s?.shareBad > 0.005 && `${percent(s.shareBad)} of scored time was bad`),
    tile("Connections", total > 0 ? `${connected} of ${total}` : none, median(setups) !== null ? `set up in ${ms(median(setups))} (median)` : total > 0 && connected === 0 && "none came up", total > connected && !live ? "wrong" : ""),
    tile("ICE disruptions", integer(disruptions), null, disruptions > 0 ? "warn" : ""),
    tile("Errors", integer(errors), s?.errorsByFunction && Object.keys(s.errorsByFunction).map(breakable).join(", "), errors > 0 ? "wrong" : ""),
    s?.feedback?.count > 0 && tile("Rating", s.feedback.overall === null ? none : `${decimal(s.feedback.overall, 1)} of 5`, plural(s.feedback.count, "rating"), s.feedback.worst <= 2 ? "wrong" : ""),
  );
}

/** Copies a text, and says in the button whether that worked. */
async function copy(button, text) {
  const word = button.dataset.word;
  const done = await text().then((t) => navigator.clipboard.writeText(t)).then(() => true, () => false);
  button.textContent = done ? "Copied" : "Not copied";
  setTimeout(() => { button.textContent = word; }, 2000);
}

/** The conference for a ticket, as the server writes it, with the whole address of this page. */
async function ticket(c) {
  const text = await askText("api/conference/text", { app: c.app, id: c.id, at: c.startAt });
  return text.replace(/^Page: (.*)$/m, (_line, address) => `Page: ${new URL(address, root)}`);
}

const copyButton = (word, text) => h("button", { type: "button", class: "quiet", "data-word": word, "data-key": word, onclick: (event) => copy(event.currentTarget, text) }, word);

export function drawHead(detail) {
  const c = detail.conference;
  const [, , why] = statusOf(c);
  return [
    h("p", { class: "crumbs" }, h("a", { href: "search" }, "Conferences"), h("span", { "aria-hidden": "true" }, " / "), h("a", { href: `search?${new URLSearchParams({ app: c.app })}` }, c.app)),
    h("div", { class: "title" }, h("h1", { "data-testid": "conference-id" }, c.id), pill(c),
      h("span", { class: "copy" }, copyButton("Copy link", async () => location.href), copyButton("Copy as text", () => ticket(c)))),
    h("p", { class: "muted subtitle" }, time(c.startAt, date(c.startAt)), why && ` · ${why}`, c.revision > 1 && ` · summary revised ${plural(c.revision - 1, "time")} by late data`),
    tiles(detail),
  ];
}

const missing = {
  __proto__: null,
  tooLarge: "It has too many records to be summed up while it goes on.",
  tooSlow: "Summing it up takes too long while it goes on.",
  failed: "The store could not be read just now. The collector's log says why.",
};

/** Says of a live conference that what is shown of it may change, or why nothing is shown. */
export function drawSoFar({ soFar, conference: c }) {
  if (!soFar) return [];
  if (soFar.missing) {
    return h("div", { class: "notice", "data-testid": "so-far", "data-missing": soFar.missing },
      h("p", {}, h("b", {}, "Scores, issues and likely cause come at the end. "), missing[soFar.missing] ?? ""));
  }
  const why = c.state === "live" ? "while the conference goes on" : "until its summary comes";
  return h("p", { class: "muted small so-far-note", "data-testid": "so-far" },
    "Scores, issues and likely cause are preliminary ", why, ". As of ", time(soFar.at, clock(soFar.at)), ".");
}

/** Says that some of what was recorded is not shown, because the store cannot read it. */
export function drawDamage(detail) {
  return detail.damaged && h("div", { class: "notice warning", role: "status", "data-testid": "damaged" },
    h("p", {}, h("b", {}, "Part of this conference cannot be read: "),
      "the store holds data of it that is damaged. All that is whole is shown. The collector's log names what is missing; a backup may still have it."));
}
