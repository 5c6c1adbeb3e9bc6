import { expect, test } from "vitest";
import { Refusal, type RefusalExtra, type RefusalStatus } from "#kernel/refusal.ts";
import { testEdge } from "../../../services/edge/testing/test-edge.ts";

const ASSIGN = {
  method: "POST",
  url: "/api/v1/investor/assign",
  payload: { master_login: "3000001", investor_login: "3000003", perf_fee: { rate: 0.3, enabled: true } },
} as const;
const UNASSIGN = {
  method: "POST",
  url: "/api/v1/subscriptions/unassign?master_login=3000001&investor_login=3000003",
} as const;
const WITHDRAW = { method: "POST", url: "/api/v1/investor/withdraw?login=3000003&amount=50" } as const;

type ProblemCase = readonly [code: string, status: RefusalStatus, extra: RefusalExtra];

const STOPPED: ProblemCase = ["safety_stop", "conflict", { outcome: "not_executed" }];
const OPEN: ProblemCase = [
  "master_open_positions",
  "conflict",
  { details: { open_positions: "2" }, outcome: "not_executed" },
];
const ALLOCATING: ProblemCase = [
  "allocation_in_progress",
  "conflict",
  { retryAfterMs: 1_500, outcome: "not_executed" },
];
const NEGATIVE: ProblemCase = ["investor_deficit", "conflict", { outcome: "not_executed" }];

const STOPPED_BODY = {
  status: 409,
  title: "Operations are suspended pending manual review",
  retryable: false,
};
const OPEN_BODY = { status: 409, title: "The Master has open positions", retryable: false, open_positions: 2 };
const ALLOCATING_BODY = { status: 409, title: "Trading results are being allocated", retryable: true };
const NEGATIVE_BODY = { status: 409, title: "The Investor's share of the pool is negative", retryable: false };

/** Refusals that prevent a movement of money, exactly as callers receive them, because callers branch on them. */
test.each([
  ["assign (safety_stop)", ASSIGN, STOPPED, STOPPED_BODY],
  ["unassign (safety_stop)", UNASSIGN, STOPPED, STOPPED_BODY],
  ["withdraw (safety_stop)", WITHDRAW, STOPPED, STOPPED_BODY],
  ["unassign (master_open_positions)", UNASSIGN, OPEN, OPEN_BODY],
  ["withdraw (master_open_positions)", WITHDRAW, OPEN, OPEN_BODY],
  ["unassign (allocation_in_progress)", UNASSIGN, ALLOCATING, ALLOCATING_BODY],
  ["withdraw (allocation_in_progress)", WITHDRAW, ALLOCATING, ALLOCATING_BODY],
  ["unassign (investor_deficit)", UNASSIGN, NEGATIVE, NEGATIVE_BODY],
  ["withdraw (investor_deficit)", WITHDRAW, NEGATIVE, NEGATIVE_BODY],
])("%s is reported with all its details", async (_name, request, [code, status, extra], expected) => {
  const no = (): Promise<never> => Promise.reject(new Refusal({ code, status, message: "Not now.", ...extra }));
  const edge = await testEdge({ subscriptions: { assign: no, unassign: no }, funding: { withdraw: no } });

  const answer = await edge.call({ ...request, headers: { "x-request-id": "request-1" } });

  const operation = expected.status === 503 ? { operation_id: edge.calls[0]?.context.commandId } : {};
  expect(answer.body).toEqual({
    type: `/docs/problems/${code}`,
    detail: "Not now.",
    instance: request.url.split("?")[0],
    code,
    request_id: "request-1",
    outcome: "not_executed",
    ...operation,
    ...expected,
  });
  expect([answer.status, answer.headers["content-type"]]).toEqual([
    expected.status,
    "application/problem+json; charset=utf-8",
  ]);
  expect(answer.headers["retry-after"]).toBe(code === "allocation_in_progress" ? "2" : undefined);
});
