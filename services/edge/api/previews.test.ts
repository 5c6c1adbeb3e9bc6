import { expect, test } from "vitest";
import { testEdge } from "../testing/test-edge.ts";
import { aWithdrawalPreview } from "./samples/funding.ts";
import { aReason, cents } from "./samples/values.ts";

const WITHDRAW = "/api/v1/investor/withdraw/preview";

test("a preview is no command, and is not audited", async () => {
  const edge = await testEdge({ funding: { previewWithdraw: async () => aWithdrawalPreview() } });
  const headers = { "idempotency-key": "key-1" };
  const answer = await edge.call({ method: "POST", url: `${WITHDRAW}?login=3000003&amount=50`, headers });

  expect(answer.status).toBe(200);
  expect(edge.calls).toMatchObject([{ method: "previewWithdraw", context: { commandId: "" } }]);
  expect(edge.audited).toEqual([]);
  expect(answer.headers).not.toHaveProperty("x-operation-id");
  expect(answer.headers).not.toHaveProperty("idempotency-replayed");
});

test("every reason has its code, its text and its facts; a code that is not part of the interface is a conflict", async () => {
  const refusals = [
    {
      ...aReason("account_busy", "Busy.", { reason: "outcome_unknown" }),
      operationId: "0198c0de-0000-7000-8000-000000000001",
    },
    aReason("master_open_positions", "Open.", { open_positions: "2", internal: "x" }),
    aReason("investor_deficit", "Negative.", { deficit: "3.21" }),
    aReason("possible_duplicate", "Twice.", { deal_id: "9007199254740993" }),
    aReason("inner_reason", "Inner."),
  ];
  const previewWithdraw = async () => ({ ...aWithdrawalPreview(), refusals });
  const edge = await testEdge({ funding: { previewWithdraw } });
  const answer = await edge.call({ method: "POST", url: `${WITHDRAW}?login=3000003&amount=50` });

  expect(answer.status).toBe(200);
  expect(answer.text).toContain('"deal_id":9007199254740993');
  expect(answer.body).toMatchObject({
    allowed: false,
    blocking: [
      {
        code: "account_busy",
        detail: "Busy.",
        retryable: true,
        operation_id: "0198c0de-0000-7000-8000-000000000001",
        reason: "outcome_unknown",
      },
      { code: "master_open_positions", detail: "Open.", retryable: false, open_positions: 2 },
      { code: "investor_deficit", detail: "Negative.", deficit: "3.21" },
      { code: "possible_duplicate" },
      { code: "conflict", detail: "Inner." },
    ],
  });
  expect(answer.text).not.toContain("internal");
});

test("funds under review and a duplicate are shown as by the withdrawal", async () => {
  const figures = { balanceBefore: cents(300_00n), effectiveWithdraw: cents(0n), availableAfterFee: cents(0n) };
  const previewWithdraw = async () => ({ ...aWithdrawalPreview(figures), possibleDuplicateOf: 77n });
  const edge = await testEdge({ funding: { previewWithdraw } });
  const answer = await edge.call({ method: "POST", url: `${WITHDRAW}?login=3000003&amount=50` });

  expect(answer.body).toMatchObject({ status: "no_funds", effective_withdraw: 0, held_back: "287.66" });
  expect(answer.headers["x-possible-duplicate-of"]).toBe("77");
});
