import type { Exchanges } from "../exchange.ts";
import { anOperation } from "../samples/funding.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { EXECUTED_DEPOSIT } from "./examples.ts";

export const exchanges: Exchanges = {
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
        items: [EXECUTED_DEPOSIT],
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
      answer: { items: [EXECUTED_DEPOSIT], next_cursor: null, has_more: false },
    },
    {
      name: "no_operation",
      summary: "A deal that no operation has made",
      request: { query: { ticket: "7654321" } },
      services: { platform: { findTransferOfDeal: async () => ({ key: "", kind: MovementKind.UNSPECIFIED }) } },
      answer: { items: [], next_cursor: null, has_more: false },
    },
  ],
};
