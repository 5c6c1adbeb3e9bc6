import { serviceUnavailable } from "#kernel/contract/refusals.ts";
import type { Exchanges } from "../exchange.ts";
import { aBreak, aCheck, ofADeposit } from "../samples/ops.ts";

const OPEN_BREAK = {
  check: "deal_matching",
  key: "operation:4711",
  login: "3000001",
  master_login: "3000001",
  at_risk: 50,
  operation_ids: ["4711"],
  deal_ids: [1234567],
  message: "Leg 4711 is applied, but its deal 1234567 is not in a log.",
  evidence: { booked_minor: "5000", logged_minor: null },
  opened_at: "2026-01-02T03:04:05.678000",
  seen_at: "2026-02-03T04:05:06.789000",
} as const;

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
      asked: [
        { method: "listBreaks", request: { afterId: 0n, limit: 2, withoutChecks: false } },
        { method: "listBreaks", request: { afterId: 0n, limit: 2, withoutChecks: false } },
        { method: "listBreaks", request: { afterId: 0n, limit: 2, withoutChecks: false } },
        { method: "listBreaks", request: { afterId: 0n, limit: 2, withoutChecks: false } },
      ],
      answer: {
        items: [
          { id: "platform-17", service: "platform", ...OPEN_BREAK },
          {
            id: "subscription-17",
            service: "subscription",
            ...OPEN_BREAK,
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
          {
            service: "platform",
            check: "deal_matching",
            title: "each applied leg is one deal of the log",
            every_seconds: 60,
            completed_at: "2026-02-03T04:05:06.789000",
            stale: false,
            error: null,
            open_breaks: 1,
          },
          {
            service: "subscription",
            check: "mirror_lag",
            title: "each applied leg is one deal of the log",
            every_seconds: 60,
            completed_at: null,
            stale: true,
            error: "it is tried again",
            open_breaks: 1,
          },
          {
            service: "fee",
            check: "fee_payments",
            title: "each applied leg is one deal of the log",
            every_seconds: 60,
            completed_at: "2026-02-03T04:05:06.789000",
            stale: false,
            error: null,
            open_breaks: 0,
          },
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
        items: [{ id: "platform-17", service: "platform", ...OPEN_BREAK }],
        next_cursor: null,
        has_more: false,
        checks: [],
        unreachable: [],
      },
    },
  ],
  getBreak: [
    {
      name: "open",
      summary: "A leg without its deal",
      request: { params: { break_id: "fee-17" } },
      services: { fees: { listBreaks: async () => ({ items: [aBreak()], checks: [], hasMore: false }) } },
      asked: [{ method: "listBreaks", request: { afterId: 16n, limit: 1, withoutChecks: true } }],
      answer: { id: "fee-17", service: "fee", ...OPEN_BREAK },
    },
  ],
};
