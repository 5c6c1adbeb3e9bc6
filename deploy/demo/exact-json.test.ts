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

test("text that is not JSON is parsed as undefined", () => {
  expect(parseExact("<html>")).toBeUndefined();
});
