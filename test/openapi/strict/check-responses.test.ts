import { expect, test } from "vitest";
import { openApiDocument } from "../../../deploy/docs/openapi/document.ts";
import { DOCUMENTED_ROUTES } from "../../../services/edge/api/documented-routes.ts";
import { type Exchange, responseChecks } from "./check-responses.ts";
import type { Document } from "./document.ts";

const document = openApiDocument(DOCUMENTED_ROUTES) as unknown as Document;
const HEADERS = { "content-type": "application/json; charset=utf-8", "x-request-id": "r" };
const BALANCE = { mt5_login: "3000001", balance: 1.5, ok: true, error: null };
const PROBLEM = {
  type: "/docs/problems/master_open_positions",
  title: "The Master has open positions",
  status: 409,
  detail: "The Master has open positions: 1.",
  instance: "/api/v1/investor/withdraw",
  code: "master_open_positions",
  request_id: "r",
  retryable: false,
  outcome: "not_executed",
  open_positions: 1,
};

function exchange(
  body: unknown,
  { headers = {}, ...changes }: Omit<Partial<Exchange>, "headers"> & { headers?: object } = {},
) {
  const method = "GET";
  const pathname = "/api/v1/info/balance/3000001";
  const text = JSON.stringify(body);
  return { method, pathname, status: 200, text, ...changes, headers: new Headers({ ...HEADERS, ...headers }) };
}
const refusal = (body: unknown) =>
  exchange(body, {
    method: "POST",
    pathname: "/api/v1/investor/withdraw",
    status: 409,
    headers: { "content-type": "application/problem+json" },
  });

test("responses as documented pass, and are remembered", () => {
  const { complaints, seen } = responseChecks(document);
  expect([...complaints(exchange(BALANCE)), ...complaints(refusal(PROBLEM))]).toEqual([]);
  expect([...seen]).toEqual(["getBalance 200", "withdrawFunds 409"]);
});

const { error: _, ...incomplete } = BALANCE;
test.each([
  ["an unknown member", exchange({ ...BALANCE, margin: 1 }), '"unevaluatedProperty":"margin"'],
  ["a missing member", exchange(incomplete), '"missingProperty":"error"'],
  ["a member of another type", exchange({ ...BALANCE, balance: "1.50" }), "/balance must be number"],
  ["an unknown member of a problem", refusal({ ...PROBLEM, positions: 1 }), '"unevaluatedProperty":"positions"'],
  ["a problem without its fact", refusal({ ...PROBLEM, open_positions: undefined }), "open_positions"],
  ["a code that the status does not have", refusal({ ...PROBLEM, code: "login_in_use" }), "/code"],
  ["a status", exchange(BALANCE, { status: 202 }), "getBalance does not declare 202"],
  ["a header", exchange(BALANCE, { headers: { "X-Held-Back": "1" } }), "does not declare x-held-back"],
  ["a type", exchange(BALANCE, { headers: { "content-type": "text/csv" } }), "does not declare text/csv"],
  ["a path", exchange(BALANCE, { pathname: "/api/v1/info/balance" }), "is no operation"],
])("%s that the document does not have is found", (_name, given, complaint) => {
  expect(responseChecks(document).complaints(given).join("\n")).toContain(complaint);
});
