import { OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { Exchanges } from "../exchange.ts";
import { aCancelledWithdrawal, anOperation, noOperation } from "../samples/funding.ts";
import { LATER_TEXT } from "../samples/values.ts";

const EXECUTED = {
  legs: [{ applied_at: LATER_TEXT }],
  requested_at: "2025-08-19T05:47:11.232000",
  finished_at: LATER_TEXT,
};

const AN_ID = "0198c0de-0000-7000-8000-000000000003";

export const exchanges: Exchanges = {
  getOperation: [
    {
      name: "executed",
      summary: "A deposit that was executed",
      request: { query: { wait: "10" } },
      services: { funding: { getOperation: async () => anOperation() }, subscriptions: { getOperation: noOperation } },
      asked: Array(2).fill({
        method: "getOperation",
        request: { operationId: "0198c0de-0000-7000-8000-000000000001" },
      }),
      answer: EXECUTED,
    },
    {
      name: "refused",
      summary: "A deposit that was refused",
      request: { params: { operation_id: AN_ID } },
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
        ...EXECUTED,
        id: AN_ID,
        outcome: "not_executed",
        refusal: "insufficient_funds",
        deal_id: null,
        reference: null,
        legs: [],
      },
    },
  ],
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
        subscriptions: { getOperation: noOperation },
      },
      asked: [
        { method: "getOperation", request: { operationId: "0198c0de-0000-7000-8000-000000000004" } },
        { method: "getOperation", request: { operationId: "0198c0de-0000-7000-8000-000000000004" } },
        { method: "cancelOperation", request: { operationId: "0198c0de-0000-7000-8000-000000000004" } },
      ],
      answer: {
        ...EXECUTED,
        id: "0198c0de-0000-7000-8000-000000000004",
        action: "withdraw",
        outcome: "not_executed",
        refusal: "cancelled",
        deal_id: null,
        reference: null,
        legs: [],
        queue_state: "ended",
        expires_at: LATER_TEXT,
      },
    },
  ],
  listOperations: [
    {
      name: "by_comment",
      summary: "The operations with a comment",
      request: { query: { login: "3000003", comment: "CRM-2026-0001", outcome: "executed", limit: "1" } },
      services: {
        funding: { listOperations: async () => ({ items: [anOperation()], hasMore: true }) },
        subscriptions: {
          listOperations: async () => ({ items: [], hasMore: false }),
          findMirrored: async () => ({ keys: [] }),
        },
        fees: { findKeysOfItem: async () => ({ keys: ["withdrawal:1"] }) },
        platform: { findTransferOfDeal: async () => ({ key: "fee:1", kind: MovementKind.FEE_DEBIT }) },
      },
      asked: [
        {
          method: "listOperations",
          request: { login: "3000003", comment: "CRM-2026-0001", outcome: 2, beforeId: "", limit: 1 },
        },
        {
          method: "listOperations",
          request: { login: "3000003", comment: "CRM-2026-0001", outcome: 2, beforeId: "", limit: 1 },
        },
      ],
      answer: {
        items: [EXECUTED],
        next_cursor: "AZjA3gAAcACAAAAAAAAAATuZJQ9jiglAxcFF",
        has_more: true,
      },
    },
    {
      name: "by_ticket",
      summary: "The operation that has made a deal",
      request: { query: { ticket: "1234567" } },
      services: {
        platform: {
          findTransferOfDeal: async () => ({ key: "funding:deposit:1", kind: MovementKind.DEPOSIT }),
          readTransfers: async () => ({ transfers: [] }),
        },
        funding: {
          listOperations: async () => ({
            items: [anOperation({ transferKeys: ["funding:deposit:1"] })],
            hasMore: false,
          }),
        },
        subscriptions: {
          listOperations: async () => ({ items: [], hasMore: false }),
          findMirrors: async () => ({ items: [] }),
        },
      },
      answer: {
        items: [EXECUTED],
      },
    },
    {
      name: "no_operation",
      summary: "A deal that no operation has made",
      request: { query: { ticket: "7654321" } },
      services: { platform: { findTransferOfDeal: async () => ({ key: "", kind: MovementKind.UNSPECIFIED }) } },
      answer: { items: [] },
    },
  ],
};
