import { expect, test } from "vitest";
import { createBuckets, rateLimitHeaders } from "./rate-limit.ts";

function clockAt(startMs: number) {
  let ms = startMs;
  return { now: () => new Date(ms), advance: (byMs: number) => void (ms += byMs) };
}

test("a burst is allowed, then one request for each token that was refilled", () => {
  const clock = clockAt(0);
  const buckets = createBuckets({ perSecond: 10, burst: 3 }, clock.now);

  expect([1, 2, 3, 4].map(() => buckets.take("a"))).toEqual([undefined, undefined, undefined, { retryAfterMs: 100 }]);
  clock.advance(99);
  expect(buckets.take("a")).toEqual({ retryAfterMs: 1 });
  clock.advance(1);
  expect([buckets.take("a"), buckets.take("a")]).toEqual([undefined, { retryAfterMs: 100 }]);
});

test("an idle key accumulates at most one burst", () => {
  const clock = clockAt(0);
  const buckets = createBuckets({ perSecond: 1_000, burst: 2 }, clock.now);
  clock.advance(60_000);

  expect([1, 2, 3].map(() => buckets.take("a") === undefined)).toEqual([true, true, false]);
});

test("the limit of one key does not affect another key", () => {
  const buckets = createBuckets({ perSecond: 1, burst: 1 }, clockAt(0).now);

  expect([buckets.take("a"), buckets.take("b")]).toEqual([undefined, undefined]);
});

test("the level says what is left, when the next token is there and when all are", () => {
  const clock = clockAt(0);
  const buckets = createBuckets({ perSecond: 2, burst: 3 }, clock.now);

  expect(buckets.levelOf("a")).toEqual({ remaining: 3, nextInMs: 0, fullInMs: 0 });
  for (let taken = 0; taken < 3; taken += 1) buckets.take("a");
  clock.advance(100);
  expect(buckets.levelOf("a")).toEqual({ remaining: 0, nextInMs: 400, fullInMs: 1_400 });
  expect(buckets.take("a")).toEqual({ retryAfterMs: 400 });
});

test("a clock that steps back removes no tokens", () => {
  const clock = clockAt(10_000);
  const buckets = createBuckets({ perSecond: 1, burst: 2 }, clock.now);
  buckets.take("a");
  clock.advance(-5_000);

  expect(buckets.take("a")).toBeUndefined();
});

test("the number of buckets is bounded", () => {
  const buckets = createBuckets({ perSecond: 1, burst: 1 }, clockAt(0).now);
  for (let each = 0; each < 10_001; each += 1) buckets.take(String(each));

  expect(buckets.take("10000")).toEqual({ retryAfterMs: 1_000 });
  expect(buckets.take("0"), "the oldest bucket was dropped").toBeUndefined();
});

test("t is when all requests are back, and without any left when the next one is", () => {
  const rate = { perSecond: 1, burst: 10 };
  const resets = [
    { remaining: 10, nextInMs: 0, fullInMs: 0 },
    { remaining: 1, nextInMs: 500, fullInMs: 8_500 },
    { remaining: 0, nextInMs: 500, fullInMs: 9_500 },
  ].map((level) => rateLimitHeaders("read", rate, level)["ratelimit"]);

  expect(resets).toEqual(['"read";r=10;t=0', '"read";r=1;t=9', '"read";r=0;t=1']);
});
