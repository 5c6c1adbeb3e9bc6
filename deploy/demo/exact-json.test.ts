import { expect, test } from "vitest";
import { parseExact } from "./exact-json.ts";

test("numbers keep the digits they were written with", () => {
  expect(
    parseExact('{"amount": 0.10, "deal_id": 9007199254740993, "ok": true, "error": null, "list": [1.50]}'),
  ).toEqual({
    amount: "0.10",
    deal_id: "9007199254740993",
    ok: true,
    error: null,
    list: ["1.50"],
  });
});

test("what is not JSON is undefined", () => {
  expect(parseExact("<html>")).toBeUndefined();
});
