import { expect, test } from "vitest";
import { Refusal } from "#kernel/refusal.ts";
import { testEdge } from "../testing/test-edge.ts";

const DEPOSIT = "/api/v1/investor/deposit?login=3000003&amount=1";

function refusing(facts: ConstructorParameters<typeof Refusal>[0]) {
  return testEdge({ funding: { deposit: () => Promise.reject(new Refusal(facts)) } });
}

test("an unknown outcome names the operation and is not retryable", async () => {
  const edge = await refusing({ code: "outcome_unknown", status: "unknown_outcome", message: "x", outcome: "unknown" });
  const answer = await edge.call({ method: "POST", url: DEPOSIT });

  expect([answer.status, answer.headers["retry-after"]]).toEqual([504, undefined]);
  expect(answer.body).toMatchObject({
    code: "outcome_unknown",
    outcome: "unknown",
    retryable: false,
    operation_id: answer.headers["x-operation-id"],
    detail: `The command may have been executed, or may still be. Look it up at GET /api/v1/operations/${answer.headers["x-operation-id"]}, or repeat it with the same Idempotency-Key, before sending a new one.`,
  });
});

test("a service that cannot be reached is reported without its name, with Retry-After", async () => {
  const edge = await refusing({
    code: "service_unavailable",
    status: "unavailable",
    message: "funding cannot be reached",
    outcome: "not_executed",
    retryAfterMs: 250,
  });
  const answer = await edge.call({ method: "POST", url: DEPOSIT });

  expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "1"]);
  expect(answer.body).toMatchObject({ code: "service_unavailable", outcome: "not_executed", retryable: true });
  expect(answer.text).not.toContain("funding");
});

test("a fault is reported without detail, and logged with its stack", async () => {
  const edge = await testEdge({ accounts: { getMaster: () => Promise.reject(new Error("select secret from table")) } });
  const answer = await edge.call({ url: "/api/v1/master/7" });

  expect([answer.status, answer.body]).toMatchObject([500, { code: "internal_error", retryable: false }]);
  expect(answer.text).not.toContain("secret");
  expect(edge.lines.join("")).toContain("select secret from table");
});

test("a caller that waits for the first of several equal requests learns when to ask again", async () => {
  const operationId = "0198c0de-0000-7000-8000-000000000001";
  const edge = await refusing({
    code: "operation_in_progress",
    status: "conflict",
    message: `The withdrawal waits until the Master is flat (${operationId}).`,
    operationId,
    outcome: "unknown",
  });
  const answer = await edge.call({ method: "POST", url: DEPOSIT });

  expect([answer.status, answer.headers["retry-after"]]).toEqual([409, "1"]);
  expect(answer.body).toMatchObject({ operation_id: operationId, outcome: "unknown", retryable: false });
});

test("a conflict is reported with its documented details only", async () => {
  const edge = await refusing({
    code: "below_min_deposit",
    status: "conflict",
    message: "First deposit 1.00 USD is below the minimum.",
    details: { required: "100.00", actual: "1.00", row: "42" },
    outcome: "not_executed",
  });
  const answer = await edge.call({ method: "POST", url: DEPOSIT });

  expect([answer.status, answer.body]).toEqual([
    409,
    {
      type: "/docs/problems/below_min_deposit",
      title: "The balance is below the minimum deposit",
      status: 409,
      detail: "First deposit 1.00 USD is below the minimum.",
      instance: "/api/v1/investor/deposit",
      code: "below_min_deposit",
      request_id: answer.headers["x-request-id"],
      retryable: false,
      outcome: "not_executed",
      required: "100.00",
      actual: "1.00",
    },
  ]);
});

test("a refusal as account_busy contains the id of the operation in progress and whether its outcome is unknown", async () => {
  const edge = await refusing({
    code: "account_busy",
    status: "conflict",
    message: "busy",
    outcome: "not_executed",
    operationId: "the-other-one",
    details: { reason: "outcome_unknown" },
    retryAfterMs: 2_100,
  });
  const answer = await edge.call({ method: "POST", url: DEPOSIT });

  expect([answer.status, answer.headers["retry-after"]]).toEqual([409, "3"]);
  expect(answer.body).toMatchObject({ operation_id: "the-other-one", reason: "outcome_unknown", retryable: true });
});

test("a refusal of the platform is reported with its code", async () => {
  const edge = await refusing({
    code: "platform_rejected",
    status: "rejected",
    message: "The platform refused.",
    details: { platform_code: "10006" },
    outcome: "not_executed",
  });
  const answer = await edge.call({ method: "POST", url: DEPOSIT });

  expect([answer.status, answer.body]).toMatchObject([
    502,
    { code: "platform_rejected", platform_code: 10006, operation_id: answer.headers["x-operation-id"] },
  ]);
});

test("the mistakes that a service finds, a duplicate and a stopped Master are reported with what callers branch on", async () => {
  const errors = [{ field: "platform_group", code: "group_not_allowed", message: "No." }];
  const outcome = "not_executed";
  for (const [facts, status, shown] of [
    [{ code: "group_not_allowed", status: "invalid", errors }, 422, { errors }],
    [{ code: "possible_duplicate", status: "conflict", details: { deal_id: "77" } }, 409, { deal_id: 77 }],
    [{ code: "safety_stop", status: "unavailable" }, 409, {}],
    [{ code: "allocation_in_progress", status: "conflict", retryAfterMs: 1_500 }, 409, { retryable: true }],
  ] as const) {
    const edge = await refusing({ message: "No.", outcome, ...facts });
    const answer = await edge.call({ method: "POST", url: DEPOSIT });
    expect([answer.status, answer.body]).toMatchObject([
      status,
      { code: facts.code, outcome, detail: "No.", ...shown },
    ]);
    expect(answer.headers["retry-after"]).toBe("retryAfterMs" in facts ? "2" : undefined);
  }
});
