// Words and numbers for people.

import { outcomes } from "./words.js";

export const labels = ["excellent", "good", "fair", "poor", "bad"];

/** What a conference's pill says: [class, word, explanation]. */
export function statusOf(c) {
  if (c.state === "live") return ["live", "Live", "Going on now."];
  if (c.state === "pending") return ["pending", "No summary", "It is silent, and its summary has not come yet."];
  const [word, why] = outcomes[c.outcome] ?? [c.outcome || "Ended", ""];
  return [outcomes[c.outcome] ? c.outcome : "pending", word, why];
}

export const capital = (word) => (word ? word[0].toUpperCase() + word.slice(1) : "");

/** camelCase and snake_case as words: iceDisruptionStart becomes "Ice disruption start". */
export const words = (name) => capital(String(name).replace(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll("_", " ").toLowerCase());

/** The same of a key of additionalIDs: pbxExtensionID becomes "PBX extension ID". */
export const idWords = (key) => words(key).replace(/\b(id|pbx|fq)\b/gi, (word) => word.toUpperCase());

export const plural = (n, one, many = `${one}s`) => `${integer(n)} ${n === 1 ? one : many}`;

const known = (n) => typeof n === "number" && Number.isFinite(n);
export const none = "–";

export const integer = (n) => (known(n) ? Math.round(n).toLocaleString("en") : none);

export const decimal = (n, digits) =>
  known(n) ? n.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }) : none;

/** A number of which nothing is known, in at most four digits that matter. */
export const figure = (n) =>
  known(n) ? n.toLocaleString("en", { maximumSignificantDigits: 4, notation: Math.abs(n) >= 100_000 ? "compact" : "standard" }) : none;

/** One decimal below 10, where there is something to show. */
const short = (n) => decimal(n, n !== 0 && n < 10 ? 1 : 0);

export const mos = (n) => decimal(n, 2);

export const percent = (n) => (known(n) ? `${short(n * 100)} %` : none);

export function ms(n) {
  if (!known(n)) return none;
  if (n >= 10_000) return `${decimal(n / 1000, 1)} s`;
  return `${short(n)} ms`;
}

export function kbps(n) {
  if (!known(n)) return none;
  if (n >= 1000) return `${decimal(n / 1000, n < 10_000 ? 2 : 1)} Mbit/s`;
  return `${short(n)} kbit/s`;
}

export const fps = (n) => (known(n) ? `${short(n)} fps` : none);

export function bytes(n) {
  if (!known(n)) return none;
  const power = Math.min(3, Math.floor(Math.log10(Math.max(1, Math.abs(n))) / 3));
  return `${decimal(n / 1000 ** power, power > 0 ? 1 : 0)} ${["B", "kB", "MB", "GB"][power]}`;
}

// How a measure's unit (UCUM) is shown, and the end of its name that repeats the unit.
const units = {
  ms: [ms, "Ms"],
  "bit/s": [(n) => kbps(n / 1000), "Bps"],
  By: [bytes],
  "{frame}/s": [fps],
  "{pixel}": [(n) => `${integer(n)} px`, "Pixels"],
};
const fraction = [percent, "Fraction"];
const count = [(n) => (Number.isInteger(n) ? integer(n) : figure(n))];

function unitOf({ unit = "", max }) {
  if (Object.hasOwn(units, unit)) return units[unit];
  if (unit === "1" && max === 1) return fraction;
  if (unit === "" || unit === "1" || /^\{[^{}]*\}$/.test(unit)) return count;
  return [(n) => `${figure(n)} ${unit.replaceAll(/[{}]/g, "")}`, capital(unit.toLowerCase())];
}

// Words that a name of a measure has for short.
const shortWords = { bitrate: "bit rate", cpu: "CPU", decode: "decoding", encode: "encoding", fec: "FEC", firs: "FIRs", fps: "frame rate", freeze: "frozen", nacks: "NACKs", pause: "paused", plis: "PLIs", qp: "QP", rid: "RID", rtt: "round trip" };

/** The label of a measure, derived from its name and unit: rttMs becomes "Round trip". */
export function measureLabel({ name, unit, max }) {
  const [, ending = ""] = unitOf({ unit, max });
  const own = ending && name.endsWith(ending) ? name.slice(0, -ending.length) : name;
  const label = words(own).toLowerCase().replace(/(\d+)s$/, " in $1 s").replaceAll(/[a-z]+/g, (word) => (Object.hasOwn(shortWords, word) ? shortWords[word] : word));
  return capital(label);
}

/** The value of a measure in its unit. Text has none. */
export function measureText(m) {
  if (typeof m.value !== "number") return m.value;
  const [text] = unitOf(m);
  return text(m.value);
}

/** 3 h 02 min, 12 min 30 s, 4.2 s. */
export function duration(n) {
  if (!known(n)) return none;
  if (n < 1000) return `${Math.round(n)} ms`;
  if (n < 10_000) return `${decimal(n / 1000, 1)} s`;
  const seconds = Math.round(n / 1000);
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (v) => String(v).padStart(2, "0");
  if (hours > 0) return `${hours} h ${two(minutes)} min`;
  return minutes > 0 ? `${minutes} min ${two(rest)} s` : `${rest} s`;
}

/** Time since the start, as +1:02:03.4. */
export function offset(n) {
  const sign = n < 0 ? "−" : "+";
  const tenths = Math.floor(Math.abs(n) / 100);
  const [hours, minutes, seconds] = [Math.floor(tenths / 36_000), Math.floor(tenths / 600) % 60, Math.floor(tenths / 10) % 60];
  const tail = `${String(seconds).padStart(2, "0")}.${tenths % 10}`;
  return hours > 0 ? `${sign}${hours}:${String(minutes).padStart(2, "0")}:${tail}` : `${sign}${minutes}:${tail}`;
}

const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const fullTime = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const clockTime = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const shortTime = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

export const date = (at) => dateTime.format(at);
export const fullDate = (at) => fullTime.format(at);
export const clock = (at) => clockTime.format(at);
export const shortClock = (at) => shortTime.format(at);

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export function ago(at, now) {
  const seconds = Math.round((at - now) / 1000);
  for (const [unit, length, upTo] of [["second", 1, 60], ["minute", 60, 60], ["hour", 3600, 36], ["day", 86_400, 60]]) {
    if (Math.abs(seconds) < length * upTo) return relative.format(Math.round(seconds / length), unit);
  }
  return relative.format(Math.round(seconds / 2_629_800), "month");
}

/** The browser and system in a user agent string, as far as people care. */
export function browser(userAgent) {
  if (!userAgent) return "";
  const found = [["Edge", /Edg\/(\d+)/], ["Opera", /OPR\/(\d+)/], ["Firefox", /Firefox\/(\d+)/], ["Chrome", /(?:Headless)?Chrom(?:e|ium)\/(\d+)/], ["Safari", /Version\/(\d+).*Safari/]]
    .map(([name, pattern]) => [name, pattern.exec(userAgent)?.[1]])
    .find(([, version]) => version);
  const system = [["Android", /Android/], ["iOS", /iPhone|iPad/], ["Windows", /Windows/], ["macOS", /Mac OS X/], ["ChromeOS", /CrOS/], ["Linux", /Linux/]]
    .find(([, pattern]) => pattern.test(userAgent))?.[0];
  if (!found) return userAgent;
  return `${found[0]} ${found[1]}${system ? ` on ${system}` : ""}`;
}

const pad = (n) => String(n).padStart(2, "0");

/** Milliseconds as the value of a datetime-local input, which is in local time. */
export function toInput(ms) {
  if (!/^\d+$/.test(ms ?? "")) return "";
  const d = new Date(Number(ms));
  return `${d.getFullYear()}-${pad(d.getMonth() + 1)}-${pad(d.getDate())}T${pad(d.getHours())}:${pad(d.getMinutes())}`;
}

/** The same back to milliseconds, as text; empty for no time. A minute that the form has from a time is that time. */
export const fromInput = (chosen, before) => (chosen && before && chosen === toInput(before) ? before : chosen && String(new Date(chosen).getTime()));
