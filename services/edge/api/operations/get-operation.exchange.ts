import type { Exchanges } from "../exchange.ts";
import { anOperation } from "../samples/funding.ts";
import { Refusal } from "#kernel/refusal.ts";
import { EXECUTED_DEPOSIT } from "./examples.ts";
import { OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";

const notFound = () =>
  Promise.reject(
    new Refusal({ code: "operation_not_found", status: "not_found", message: "no operation has this id" }),
  );

const AN_ID = "0198c0de-0000-7000-8000-000000000003";

export const exchanges: Exchanges = {
  getOperation: [
    {
      name: "executed",
      summary: "A deposit that was executed",
      request: { params: { operation_id: "0198c0de-0000-7000-8000-000000000001" }, query: { wait: "10" } },
      services: { funding: { getOperation: async () => anOperation() }, subscriptions: { getOperation: notFound } },
      asked: [
        { method: "getOperation", request: { operationId: "0198c0de-0000-7000-8000-000000000001" } },
        { method: "getOperation", request: { operationId: "0198c0de-0000-7000-8000-000000000001" } },
      ],
      answer: EXECUTED_DEPOSIT,
    },
    {
      name: "refused",
      summary: "A deposit that was refused",
      request: { params: { operation_id: "0198c0de-0000-7000-8000-000000000003" }, query: {} },
      services: {
        funding: {
          getOperation: async () =>
            anOperation({
              operationId: AN_ID,
              outcome: OperationOutcome.NOT_EXECUTED,
              refusalCode: "insufficient_funds",
              dealId: undefined,
              reference: "",
              legs: [],
            }),
        },
        subscriptions: { getOperation: async () => await Promise.reject(new Error("not asked")) },
      },
      answer: {
        ...EXECUTED_DEPOSIT,
        id: "0198c0de-0000-7000-8000-000000000003",
        outcome: "not_executed",
        refusal: "insufficient_funds",
        deal_id: null,
        reference: null,
        legs: [],
      },
    },
  ],
};
