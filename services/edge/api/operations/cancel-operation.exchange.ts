import type { Exchanges } from "../exchange.ts";
import { aCancelledWithdrawal } from "../samples/funding.ts";
import { Refusal } from "#kernel/refusal.ts";
import { EXECUTED_DEPOSIT } from "./examples.ts";

const notFound = () =>
  Promise.reject(
    new Refusal({ code: "operation_not_found", status: "not_found", message: "no operation has this id" }),
  );

export const exchanges: Exchanges = {
  cancelOperation: [
    {
      name: "cancelled",
      summary: "A withdrawal that waited",
      request: { params: { operation_id: "0198c0de-0000-7000-8000-000000000004" } },
      services: {
        funding: {
          getOperation: async () => aCancelledWithdrawal(),
          cancelOperation: async () => aCancelledWithdrawal(),
        },
        subscriptions: { getOperation: notFound },
      },
      asked: [
        { method: "getOperation", request: { operationId: "0198c0de-0000-7000-8000-000000000004" } },
        { method: "getOperation", request: { operationId: "0198c0de-0000-7000-8000-000000000004" } },
        { method: "cancelOperation", request: { operationId: "0198c0de-0000-7000-8000-000000000004" } },
      ],
      answer: {
        ...EXECUTED_DEPOSIT,
        id: "0198c0de-0000-7000-8000-000000000004",
        action: "withdraw",
        outcome: "not_executed",
        refusal: "cancelled",
        deal_id: null,
        reference: null,
        legs: [],
        queue_state: "ended",
        expires_at: "2026-02-03T04:05:06.789000",
      },
    },
  ],
};
