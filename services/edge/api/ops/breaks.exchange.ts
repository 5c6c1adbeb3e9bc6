import { serviceUnavailable } from "#kernel/contract/refusals.ts";
import type { Exchanges } from "../exchange.ts";
import { aBreak, aCheck, ofADeposit } from "../samples/ops.ts";
import { LATER_TEXT } from "../samples/values.ts";

const OPEN_BREAK = { evidence: { booked_minor: "5000", logged_minor: null }, seen_at: LATER_TEXT };

export const exchanges: Exchanges = {
  listBreaks: [
    {
      name: "page",
      summary: "Two breaks; one service is unreachable",
      request: { query: { limit: "2" } },
      services: {
        platform: { listBreaks: async () => ({ items: [aBreak()], checks: [aCheck()], hasMore: false }) },
        subscriptions: {
          listBreaks: async () => ({
            items: [
              aBreak({ check: "mirror_lag", login: "", masterLogin: "", operationIds: [], dealIds: [] }),
              aBreak({ id: 18n }),
            ],
            checks: [aCheck({ name: "mirror_lag", completedAt: undefined, stale: true, error: "it is tried again" })],
            hasMore: false,
          }),
        },
        fees: {
          listBreaks: async () => ({
            items: [],
            checks: [aCheck({ name: "fee_payments", openBreaks: 0 })],
            hasMore: false,
          }),
        },
        funding: { listBreaks: () => Promise.reject(serviceUnavailable("funding")) },
      },
      asked: Array(4).fill({ method: "listBreaks", request: { afterId: 0n, limit: 2, withoutChecks: false } }),
      answer: {
        items: [
          OPEN_BREAK,
          {
            ...OPEN_BREAK,
            id: "subscription-17",
            service: "subscription",
            check: "mirror_lag",
            login: null,
            master_login: null,
            operation_ids: [],
            deal_ids: [],
          },
        ],
        next_cursor: "AAAAAAAAAEV0DItZp2eiLF6X",
        has_more: true,
        checks: [
          { completed_at: LATER_TEXT },
          { service: "subscription", check: "mirror_lag", stale: true, error: "it is tried again" },
          { service: "fee", check: "fee_payments", completed_at: LATER_TEXT, open_breaks: 0 },
        ],
        unreachable: ["funding"],
      },
    },
    {
      name: "of_operation",
      summary: "The breaks about an operation",
      request: { query: { operation_id: "0198c0de-0000-7000-8000-000000000001" } },
      services: ofADeposit({ listBreaks: async () => ({ items: [aBreak()], checks: [], hasMore: false }) }),
      answer: {
        items: [OPEN_BREAK],
        checks: [],
        unreachable: [],
      },
    },
  ],
  getBreak: [
    {
      name: "open",
      summary: "A leg without its deal",
      services: { fees: { listBreaks: async () => ({ items: [aBreak()], checks: [], hasMore: false }) } },
      asked: [{ method: "listBreaks", request: { afterId: 16n, limit: 1, withoutChecks: true } }],
      answer: { ...OPEN_BREAK, id: "fee-17", service: "fee" },
    },
  ],
};
