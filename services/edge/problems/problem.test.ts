import { expect, test } from "vitest";
import { Refusal } from "#kernel/values/refusal.ts";
import { testEdge } from "../testing/test-edge.ts";

const DEPOSIT = "/api/v1/investor/deposit?login=3000003&amount=1";

function refusing(facts: ConstructorParameters<typeof Refusal>[0]) {
  return testEdge({ funding: { deposit: () => Promise.reject(new Refusal(facts)) } });
}

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

test("each refusal is reported with what callers branch on", async () => {
  const errors = [{ field: "platform_group", code: "group_not_allowed", message: "No." }];
  const other = { operationId: "0198c0de-0000-7000-8000-000000000001" };
  const shown = { operation_id: other.operationId };
  const busy = { ...other, details: { reason: "outcome_unknown" }, retryAfterMs: 2_100 };
  for (const [facts, status, retryAfter, members] of [
    [{ code: "group_not_allowed", status: "invalid", errors }, 422, undefined, { errors }],
    [{ code: "possible_duplicate", status: "conflict", details: { deal_id: "77" } }, 409, undefined, { deal_id: 77 }],
    [{ code: "safety_stop", status: "unavailable" }, 409, undefined, {}],
    [{ code: "allocation_in_progress", status: "conflict", retryAfterMs: 1_500 }, 409, "2", { retryable: true }],
    [{ code: "account_busy", status: "conflict", ...busy }, 409, "3", { ...shown, ...busy.details, retryable: true }],
    [{ code: "operation_in_progress", status: "conflict", ...other }, 409, "1", { ...shown, retryable: false }],
    [
      { code: "platform_rejected", status: "rejected", details: { platform_code: "10006" } },
      502,
      undefined,
      { platform_code: 10006 },
    ],
  ] as const) {
    const edge = await refusing({ message: "No.", outcome: "not_executed", ...facts });
    const answer = await edge.call({ method: "POST", url: DEPOSIT });
    const wanted = { code: facts.code, outcome: "not_executed", detail: "No.", ...members };
    expect([answer.status, answer.headers["retry-after"], answer.body]).toMatchObject([status, retryAfter, wanted]);
  }
});
