import { expect, test } from "vitest";
import { fileResult, type Postings, postingKey, readPostingKey } from "./posting.ts";

const LOGIN = "2001";
const inFlight = (amount: bigint): Postings => ({ number: 5n, inFlight: amount });
const NONE: Postings = { number: 5n, inFlight: undefined };
const result = (number: bigint, amount: bigint) => ({
  login: LOGIN,
  key: postingKey({ login: LOGIN, number }),
  amount,
});

test("a key names one posting, and no other key does", () => {
  expect(readPostingKey(postingKey({ login: LOGIN, number: 17n }))).toEqual({ login: LOGIN, number: 17n });
  for (const key of [
    "",
    "posting:2001",
    "posting:2001:0",
    "posting:2001:01",
    "posting::1",
    "exit:2001:1",
    "posting:1:2:3",
  ]) {
    expect(readPostingKey(key), key).toBeUndefined();
  }
});

test.each([
  ["a gain", 10n, 10n],
  ["a loss", -10n, -10n],
  ["a loss as far as the balance covers it", -10n, -4n],
])("%s that was requested ends the posting", (_, requested, moved) => {
  expect(fileResult(inFlight(requested), result(5n, moved))).toEqual({ postings: NONE, unrequested: undefined });
});

test.each([
  ["another gain", 10n, 9n],
  ["a larger loss", -10n, -11n],
  ["a gain for a loss", -10n, 10n],
])("%s than was requested ends the posting, and is not owned", (_, requested, moved) => {
  expect(fileResult(inFlight(requested), result(5n, moved))).toEqual({ postings: NONE, unrequested: 5n });
});

test("a result of a later posting ends those before it, and its number is used", () => {
  const after = { postings: { number: 8n, inFlight: undefined }, unrequested: 8n };
  expect(fileResult(inFlight(10n), result(8n, 10n))).toEqual(after);
  expect(fileResult(NONE, result(8n, 10n))).toEqual(after);
});
