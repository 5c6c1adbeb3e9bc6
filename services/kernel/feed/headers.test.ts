import { expect, test } from "vitest";
import { entryFromHeaders, feedHeaders } from "./headers.ts";
import { anEntry, FEED } from "../testing/feed.ts";

const HUGE = 9_223_372_036_854_775_807n;

test("an entry survives the way through a broker", () => {
  const entry = anEntry(HUGE, { id: HUGE, requestId: "r-1", toldAt: new Date("2026-11-21T10:00:00.123Z") });

  const headers = feedHeaders("till", { ...entry, feed: FEED });

  expect(entryFromHeaders(entry.payload, (name) => headers[name] ?? "")).toEqual(entry);
  expect(headers["Nats-Msg-Id"]).toBe(`till:${HUGE}`);
});

test("headers that are not ours make no entry", () => {
  const headers = feedHeaders("till", { ...anEntry(1n), feed: FEED });
  const broken: Record<string, string>[] = [
    {},
    { ...headers, "Feed-Number": "0" },
    { ...headers, "Feed-Number": "1.5" },
    { ...headers, "Feed-Entry-Id": "-1" },
    { ...headers, "Feed-Told-At": "yesterday" },
  ];

  for (const fields of broken) {
    expect(entryFromHeaders(new Uint8Array(), (name) => fields[name] ?? "")).toBeUndefined();
  }
});
