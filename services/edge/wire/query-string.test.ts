import { expect, test } from "vitest";
import { parseQuery, QUERY_ERRORS } from "./query-string.ts";

test("names and values are decoded as a form encodes them", () => {
  const query = parseQuery("login=1&comment=A%20b+c%26d&empty=&bare&&x=%E2%82%AC");

  expect({ ...query }).toEqual({ login: "1", comment: "A b c&d", empty: "", bare: "", x: "€" });
});

test("a name that is sent twice is an error, and the first value is kept", () => {
  const query = parseQuery("amount=1&login=2&amount=3");

  expect(query["amount"]).toBe("1");
  expect(query[QUERY_ERRORS]).toEqual([{ field: "amount", code: "duplicate", message: "amount must be given once." }]);
});

test("broken percent encoding is an error of its field", () => {
  expect(parseQuery("comment=%FF&%=1")[QUERY_ERRORS]).toEqual([
    { field: "comment", code: "malformed", message: "The percent encoding is broken." },
    { field: "query", code: "malformed", message: "The percent encoding is broken." },
  ]);
});

test("no name changes a prototype", () => {
  const query = parseQuery("__proto__=1&toString=2");

  expect(Object.getPrototypeOf(query)).toBeNull();
  expect(Object.keys(query)).toEqual(["__proto__", "toString"]);
});
