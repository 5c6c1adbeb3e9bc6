import { expect } from "vitest";
import type { Reply } from "./client.ts";

/** Checks one JSON value; `what` names the expected value in the message. */
export type Check = { readonly what: string; readonly accepts: (value: unknown) => boolean };
export type Shape = Readonly<Record<string, Check>>;

const is = (what: string, accepts: Check["accepts"]): Check => ({ what, accepts });
const matches = (what: string, pattern: RegExp): Check =>
  is(what, (value) => typeof value === "string" && pattern.test(value));

export const text = is("a string", (value) => typeof value === "string" && value !== "");
export const bool = is("a boolean", (value) => typeof value === "boolean");
export const integer = is("an integer", (value) => typeof value === "number" && Number.isInteger(value));
export const amount = is("a number", (value) => typeof value === "number" && Number.isFinite(value));
export const login = matches("a login", /^[1-9]\d*$/);
/** ISO 8601 without offset. */
export const timestamp = matches("a timestamp", /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}$/);

export function nullable({ what, accepts }: Check): Check {
  return is(`${what} or null`, (value) => value === null || accepts(value));
}

export function exactly(expected: unknown): Check {
  return is(JSON.stringify(expected), (value) => JSON.stringify(value) === JSON.stringify(expected));
}

/** Exactly these members, each of its type and format. */
export function expectShape(value: unknown, shape: Shape): void {
  const members = Object(value) as Record<string, unknown>;
  expect(Object.keys(members).toSorted()).toEqual(Object.keys(shape).toSorted());
  const wrong = Object.entries(shape).filter(([name, { accepts }]) => !accepts(members[name]));
  expect(wrong.map(([name, { what }]) => `${name} is ${JSON.stringify(members[name])} and not ${what}`)).toEqual([]);
}

/** A page with items of this shape; returns their number. */
export function expectPage(reply: Reply, shape: Shape, more: Shape = {}): number {
  expectOk(reply);
  const page = JSON.parse(reply.text) as { items: unknown };
  expectShape(page, { items: is("an array", Array.isArray), next_cursor: PAGE_CURSOR, has_more: bool, ...more });
  return expectAll(page.items, shape);
}

const PAGE_CURSOR = is("a cursor", (value) => value === null || typeof value === "string" || typeof value === "number");

function expectAll(items: unknown, shape: Shape): number {
  const all = items as unknown[];
  for (const item of all) expectShape(item, shape);
  return all.length;
}

function expectOk({ status, text: body, headers }: Reply): void {
  expect(status, body).toBe(200);
  expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("x-request-id")).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
}
