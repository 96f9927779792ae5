// A comparison as the address has it: parameters of the API, and what they mean as choices of the form. Pure.

import { percent } from "./format.js";
import { conditions, defining, parameters as table } from "./parameters.js";
import { weekBefore } from "./period.js";

const hour = 3_600_000;
const week = 168 * hour;

const prefix = "baseline.";

/** The parameters that the API takes. */
const parameters = [...defining, ...defining.map((name) => prefix + name)];

/** The times up to now that a button sets, with their length in ms. */
export const presets = [["Hour", hour], ["24 hours", 24 * hour], ["7 days", week], ["30 days", 720 * hour]];

/** The baselines to choose from: their name, and what is compared. */
export const baselines = {
  rest: ["All other conferences of the same time", "Conferences of the same time and participants that do not meet the conditions on outcome, quality, cause, score, setup, round-trip time, loss, rating, error and issue."],
  previous: ["The time before", "Conferences that meet the same conditions, in the time of equal length before the set."],
  week: ["The same time a week earlier", "Conferences that meet the same conditions, seven days earlier by your clock."],
  time: ["Another time", "Conferences that meet the same conditions, in another time."],
  version: ["Another app version", "Conferences that meet the same conditions, with a participant of another app version."],
  site: ["Another site", "Conferences that meet the same conditions, with a participant of another site."],
  other: ["As the link says", "The parameters of the address that begin with “baseline.” replace those of the set."],
};

const given = (query, name) => query.get(name) ?? "";

/** The bounds of a baseline that is a time relative to the set. */
export function shifted(query, kind) {
  const [from, to] = [Number(given(query, "from")), Number(given(query, "to"))];
  const before = kind === "week" ? weekBefore({ from, to }) : { from: from - (to - from), to: from };
  return { from: String(before.from), to: String(before.to) };
}

/** Which baseline the address means. */
export function baselineOf(query) {
  const own = defining.filter((name) => query.has(prefix + name));
  if (own.length === 0) return "rest";
  if (own.length === 1 && (own[0] === "version" || own[0] === "site")) return own[0];
  if (own.some((name) => name !== "from" && name !== "to")) return "other";
  const is = (kind) => {
    const { from, to } = shifted(query, kind);
    return given(query, "baseline.from") === from && given(query, "baseline.to") === to;
  };
  return ["previous", "week"].find(is) ?? "time";
}

/** The address with what it lacks: without a time it is the last day, and then, without any condition, its failures. */
export function completed(query, now) {
  const out = new URLSearchParams([...query].filter(([name, value]) => parameters.includes(name) && value));
  if (out.get("from") && out.get("to")) return out;
  const to = Number(out.get("to") ?? now);
  out.set("from", out.get("from") ?? String(to - 24 * hour));
  out.set("to", String(to));
  if (!conditions.some((name) => out.get(name)) && baselineOf(out) === "rest") out.set("outcome", "failed");
  return out;
}

/** Whether the set has a condition, without which all other conferences are none. */
export const hasCondition = (query) => conditions.some((name) => query.get(name));

const outcomeOf = { failedConferences: "totallyFailed", partiallyFailedConferences: "partiallyFailed", droppedConferences: "dropped" };

/** The condition of a reason with a limit. Setup delays and ratings are whole numbers. A value above 0 is any that is measured. */
const limited = {
  lowQuality: (limit) => ["scoreTo", String(limit)],
  highSetupDelays: (limit) => ["setupFrom", String(Math.floor(limit) + 1)],
  highRoundTripTime: (limit) => ["rttAbove", String(limit || table.rttAbove.attributes.min)],
  highPacketLoss: (limit) => ["lossAbove", String(limit || table.lossAbove.attributes.min)],
  dissatisfactoryUserFeedback: (limit) => ["ratingTo", String(Math.floor(limit))],
};

/**
 * The comparison that a search leads to: its filters that define a set. Of a notification's link, the condition of its
 * reason. Null for a reason that no filter has.
 */
export function ofSearch(query) {
  const out = new URLSearchParams([...query].filter(([name, value]) => defining.includes(name) && value));
  const reason = query.get("reason");
  if (!reason) return out;
  if (Object.hasOwn(outcomeOf, reason)) out.set("outcome", outcomeOf[reason]);
  else if (Object.hasOwn(limited, reason) && query.get("past")) out.set(...limited[reason](Number(query.get("past"))));
  else return null;
  return out;
}

/** What a set is, in a word: "Failed conferences". */
export function setWords(query, outcomeWords) {
  const outcome = query.get("outcome");
  if (outcome === "failed") return "Failed conferences";
  if (outcome && Object.hasOwn(outcomeWords, outcome)) return `Conferences with outcome “${outcomeWords[outcome][0].toLowerCase()}”`;
  if (query.get("setupFrom")) return `Conferences with a setup of ${query.get("setupFrom")} ms or more`;
  if (query.get("rttAbove")) return `Conferences with a round-trip time above ${query.get("rttAbove")} ms`;
  if (query.get("lossAbove")) return `Conferences with a packet loss above ${percent(Number(query.get("lossAbove")))}`;
  if (query.get("ratingTo")) return `Conferences rated ${query.get("ratingTo")} or lower`;
  if (query.get("scoreTo")) return `Conferences with a score of ${query.get("scoreTo")} or lower`;
  return "These conferences";
}
