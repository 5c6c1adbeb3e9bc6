import { aMaster, anInvestor } from "../../../services/edge/testing/replies/account.ts";
import {
  aMasterResult,
  anAllocation,
  anEquity,
  aPerformanceDay,
  aStatement,
  aWithdrawalPreview,
} from "../../../services/edge/testing/replies/history.ts";
import { cents } from "../../../services/edge/testing/replies/values.ts";
import type { TestOptions } from "../../../services/edge/testing/test-edge.ts";

type Case = {
  readonly name: string;
  readonly method: "GET";
  readonly url: string;
  readonly answers: TestOptions;
};

const accounts = { findInvestor: async () => anInvestor(), findMaster: async () => aMaster() };

export const historyRoutes: readonly Case[] = [
  {
    name: "get-equity",
    method: "GET",
    url: "/api/v1/info/investor/3000003/equity",
    answers: {
      subscriptions: { getEquity: async () => anEquity() },
      funding: { previewWithdraw: async () => aWithdrawalPreview(1_000_00n, "master_open_positions") },
    },
  },
  {
    name: "list-allocations",
    method: "GET",
    url: "/api/v1/info/investor/3000003/allocations?limit=1",
    answers: {
      accounts,
      subscriptions: {
        listInvestorAllocations: async () => ({
          items: [anAllocation()],
          next: { subscriptionId: 4n, number: 17n },
        }),
      },
      platform: { findAmendments: async () => ({ amendments: [] }) },
    },
  },
  {
    name: "get-statement",
    method: "GET",
    url: "/api/v1/info/investor/3000003/statement?from=2026-01-01T00%3A00%3A00&to=2026-02-01T00%3A00%3A00",
    answers: { accounts, platform: { readStatement: async () => aStatement() } },
  },
  {
    name: "get-performance",
    method: "GET",
    url: "/api/v1/info/master/3000001/performance?from=2026-01-01&to=2026-02-01",
    answers: {
      accounts,
      subscriptions: {
        listPerformance: async () => ({
          days: [aPerformanceDay()],
          hasMore: false,
          openingValue: "",
          maxDrawdownPpm: 100_000,
        }),
      },
      fees: { sumPaymentCredits: async () => ({ days: [{ day: "2026-01-03", amount: cents(30_00n) }] }) },
    },
  },
  {
    name: "list-results",
    method: "GET",
    url: "/api/v1/info/master/3000001/results?limit=1",
    answers: {
      accounts,
      subscriptions: { listResults: async () => ({ items: [aMasterResult()], hasMore: true }) },
    },
  },
];

/** A further example of the documentation. */
export const outsidePool: Case = {
  name: "get-equity-outside",
  method: "GET",
  url: "/api/v1/info/investor/3000004/equity",
  answers: {
    subscriptions: {
      getEquity: async () =>
        anEquity({
          investorLogin: "3000004",
          balance: cents(250_50n),
          holding: undefined,
          pendingFee: cents(0n),
          feeWhenFlat: cents(0n),
          markE8: 0n,
        }),
    },
    funding: { previewWithdraw: async () => aWithdrawalPreview(250_50n) },
  },
};
