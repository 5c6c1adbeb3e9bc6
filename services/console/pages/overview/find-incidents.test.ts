import { expect, test } from "vitest";
import { incidentsOf } from "./find-incidents.ts";

const REACHED = { reachable: true, lag_ms: 1 };
const AWAY = { reachable: false, lag_ms: null };
const READY = { status: "ready", broker: { reachable: true }, services: { fee: REACHED }, platform: REACHED };
const PERMITS = { stopped_at: null, resumable_from: null, blocking: [], imports: null };
const GRANTED = { ...PERMITS, state: "granted" as const };
const CALM = { readiness: READY, reviews: [], checks: [{ stale: false }], permits: GRANTED };

const namesOf = (state: Partial<Parameters<typeof incidentsOf>[0]>) =>
  incidentsOf({ ...CALM, ...state }).map(({ name }) => name);

test("nothing is said while everything is reached, or before it is known", () => {
  expect(namesOf({})).toEqual([]);
  expect(namesOf({ readiness: undefined })).toEqual([]);
});

test("each part that does not answer is named, and a lost broker stands for the services behind it", () => {
  expect(namesOf({ readiness: { ...READY, platform: AWAY } })).toEqual(["platform"]);
  expect(namesOf({ readiness: { ...READY, services: { fee: AWAY, funding: REACHED } } })).toEqual(["services"]);
  const lost = { ...READY, broker: { reachable: false }, services: { fee: AWAY }, platform: AWAY };
  expect(namesOf({ readiness: lost })).toEqual(["broker"]);
});

test("a database behind the platform comes first, with its review, and checks that are out of date last", () => {
  const reviews = [{ first_review_id: "platform-7", reason: "database_behind" as const }];
  expect(namesOf({ reviews, checks: [{ stale: true }] })).toEqual(["behind", "checks"]);
  expect(incidentsOf({ ...CALM, reviews })[0]?.review).toBe("platform-7");
});

test("held money commands are an incident also before the review is seen, and while the history is read", () => {
  expect(namesOf({ permits: { ...GRANTED, state: "stopped" } })).toEqual(["behind"]);
  expect(namesOf({ permits: { ...GRANTED, state: "reading" } })).toEqual(["reading"]);
  expect(namesOf({ permits: undefined })).toEqual([]);
});
