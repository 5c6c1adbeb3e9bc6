// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { IDLE_MS, WARNED_BEFORE_MS, watchIdle } from "./idle.ts";

const seen: (number | undefined)[] = [];
let ended = 0;
let idle: ReturnType<typeof watchIdle>;
beforeEach(() => {
  vi.useFakeTimers();
  seen.length = 0;
  ended = 0;
  idle = watchIdle({ onChange: (leftMs) => seen.push(leftMs), onEnd: () => (ended += 1) });
});
afterEach(() => {
  idle.stop();
  vi.useRealTimers();
});

test("the sign-out is announced a minute before it, and comes once", () => {
  vi.advanceTimersByTime(IDLE_MS - WARNED_BEFORE_MS - 1_000);
  expect(seen).toEqual([]);
  vi.advanceTimersByTime(1_000);
  expect(seen).toEqual([WARNED_BEFORE_MS]);
  vi.advanceTimersByTime(10 * IDLE_MS);
  expect(ended).toBe(1);
});

test("input keeps the session open until the announcement, then only a decision does", () => {
  vi.advanceTimersByTime(IDLE_MS - WARNED_BEFORE_MS - 1_000);
  dispatchEvent(new Event("keydown"));
  vi.advanceTimersByTime(IDLE_MS - WARNED_BEFORE_MS);
  expect(seen).toHaveLength(1);
  dispatchEvent(new Event("keydown"));
  idle.stay();
  expect(seen.at(-1)).toBeUndefined();
  vi.advanceTimersByTime(IDLE_MS - WARNED_BEFORE_MS);
  dispatchEvent(new Event("keydown"));
  vi.advanceTimersByTime(WARNED_BEFORE_MS);
  expect(ended).toBe(1);
});

test("a computer that has slept is signed out when it wakes", () => {
  vi.setSystemTime(Date.now() + 2 * IDLE_MS);
  vi.advanceTimersByTime(1_000);
  expect(ended).toBe(1);
});
