import type { Exchanges } from "../exchange.ts";
import { ofADeposit } from "../samples/of-a-deposit.ts";
import { aBreak, aCheck } from "../samples/ops.ts";
import { serviceUnavailable } from "#kernel/contract/refusals.ts";
import { OPEN_BREAK } from "./examples.ts";

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
};
