import { MasterState } from "#proto/pamm/account/v1/account.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import type { PerformanceDay } from "#proto/pamm/subscription/v1/subscription.ts";
import { DAY_MS } from "#kernel/duration.ts";
import {
  aMaster,
  aMasterProfile,
  anInvestor,
  anInvestorProfile,
} from "../../../services/edge/testing/replies/account.ts";
import { aCredit, aFeeConfiguration, aFeeVersion, aPayment } from "../../../services/edge/testing/replies/fee.ts";
import { aCalculation, anExplanation, aPendingFee } from "../../../services/edge/testing/replies/fee-explanation.ts";
import {
  anAllocation,
  anEquity,
  aPerformanceDay,
  aStatementLine,
  aWithdrawalPreview,
} from "../../../services/edge/testing/replies/history.ts";
import { anAccountProof, aProof, aSubscription } from "../../../services/edge/testing/replies/subscription.ts";
import { AT, cents } from "../../../services/edge/testing/replies/values.ts";
import { type TestEdge, testEdge } from "../../../services/edge/testing/test-edge.ts";
import { HOSTILE, operationNumber } from "./console-edge.ts";
import { OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";

/** How many days, movements, results, payments and Investors there are. */
export type Books = {
  readonly days: number;
  readonly rows: number;
  /** Script in the names and sentences. */
  readonly isHostile?: boolean;
};

const END = Date.UTC(2026, 10, 26);
/** One day stands out, so that it is seen whether a drawing has it. */
export const SPIKE = 0.75;
const WEEK_MS = 7 * DAY_MS;

/** The real edge, in front of services whose books are as long as is asked for. */
export function booksEdge({ days, rows, isHostile = false }: Books): Promise<TestEdge> {
  const stored = (text: string): string => (isHostile ? HOSTILE : text);
  const master = aMaster({ name: stored("Alpha Strategy") });
  const all = Array.from({ length: days }, (_, index) => dayNumber(index, days));
  const payments = Array.from({ length: Math.min(rows, 60) }, (_, index) => paymentNumber(index));
  const investors = Array.from({ length: Math.min(rows, 12) }, (_, index) =>
    anAccountProof({
      login: String(3_000_003 + index),
      subscriptionId: BigInt(index + 1),
      ledgerBalance: cents(share(index)),
      platformBalance: cents(share(index)),
    }),
  );
  const sum = investors.reduce((total, _, index) => total + share(index), 0n);
  return testEdge({
    accounts: {
      searchMasters: async () => ({ items: [aMasterProfile({ master })], hasMore: false }),
      getMasterStatus: async () => ({
        id: 7n,
        login: "3000001",
        state: MasterState.OPEN,
        since: AT,
        closing: undefined,
      }),
      findMaster: async () => master,
      searchInvestors: async () => ({ items: [anInvestorProfile()], hasMore: false }),
      findInvestor: async () => anInvestor(),
      getInvestorProfile: async () => anInvestorProfile({ investor: anInvestor({ name: stored("Ada Brown") }) }),
    },
    subscriptions: {
      ...NO_CASES,
      listPerformance: async () => ({ days: all, openingValue: "", hasMore: false }),
      getEquity: async ({ investorLogin }) => anEquity({ investorLogin }),
      getProof: async () =>
        aProof({
          converged: rows === 0,
          investors,
          investorsCount: BigInt(investors.length),
          master: anAccountProof({
            login: "3000001",
            ledgerBalance: cents(sum),
            platformBalance: cents(sum - 500n),
            inFlight: cents(-500n),
          }),
          total: anAccountProof({
            login: "",
            ledgerBalance: cents(2n * sum),
            platformBalance: cents(2n * sum - 500n),
            inFlight: cents(-500n),
          }),
        }),
      searchSubscriptions: async () => ({ items: rows === 0 ? [] : [aSubscription()], hasMore: false }),
      listOperations: async () => ({ items: [], hasMore: false }),
      listInvestorAllocations: async () => ({
        items: Array.from({ length: Math.min(rows, 100) }, (_, index) => anAllocation({ number: BigInt(100 - index) })),
        next: undefined,
      }),
    },
    funding: {
      ...NO_CASES,
      previewWithdraw: async () => aWithdrawalPreview(0n, "master_open_positions"),
      listOperations: async () => ({
        items: Array.from({ length: Math.min(rows, 30) }, (_, index) =>
          operationNumber(index, stored("Paid in"), OperationOutcome.EXECUTED),
        ),
        hasMore: false,
      }),
    },
    platform: {
      ...NO_CASES,
      findAmendments: async () => ({ amendments: [] }),
      readStatement: async ({ after, limit }) => statementPage(rows, after?.number ?? 0n, limit),
    },
    fees: {
      ...NO_CASES,
      getConfiguration: async () => aFeeConfiguration(),
      listVersions: async () => ({
        investorLogin: "3000003",
        items: rows === 0 ? [] : [aFeeVersion()],
        hasMore: false,
      }),
      getFeeAccount: async () => ({ markE8: 50_000_000_000n, debt: cents(0n) }),
      previewCrystallise: async () => ({ pending: cents(30_00n), items: [] }),
      getPendingFee: async () => (isHostile ? aPendingFee({ lines: [HOSTILE] }) : aPendingFee()),
      explainPayment: async ({ paymentId }) => explanationOf(paymentId, stored("The high-water mark rises.")),
      listInvestorPayments: async () => ({
        masterLogin: "3000001",
        paymentAccountLogin: "3000002",
        items: payments,
        hasMore: false,
      }),
      listPaymentsOfInvestor: async () => ({
        items: payments.map((payment) => ({ payment, masterLogin: "3000001", paymentAccountLogin: "3000002" })),
        hasMore: false,
      }),
      listPaymentCredits: async () => ({
        paymentAccountLogin: "3000002",
        items: rows === 0 ? [] : [aCredit()],
        hasMore: false,
      }),
      sumPaymentCredits: async () => ({
        days: all
          .filter((_, index) => index % 7 === 0)
          .map(({ day }, index) => ({ day, amount: cents(BigInt(1_000 + index * 37)) })),
      }),
    },
  });
}

/** The overview, where a session begins, asks for them. */
const NO_CASES = {
  listReviews: async () => ({ items: [], hasMore: false }),
  listBreaks: async () => ({ items: [], hasMore: false, checks: [] }),
};

const share = (index: number): bigint => BigInt(1_000_000 - index * 70_000);

function dayNumber(index: number, count: number): PerformanceDay {
  const isSpike = index === Math.floor(count * SPIKE);
  const e6 = isSpike ? 3_000_000 : 1_000_000 + Math.round(100_000 * Math.sin(index / 9) + (index % 5) * 4_000);
  const at = new Date(END - (count - 1 - index) * DAY_MS);
  return aPerformanceDay({
    day: at.toISOString().slice(0, 10),
    value: `${e6}000000000000`,
    drawdownPpm: Math.max(0, 1_100_000 - e6),
    result: cents(BigInt(Math.round(50_000 * Math.cos(index / 9)))),
    poolValueE8: `${e6}000000`,
    valuedAt: at,
  });
}

function paymentNumber(index: number) {
  const end = new Date(END - index * WEEK_MS);
  const run = BigInt(100 - index);
  return aPayment({
    id: BigInt(1_000 - index),
    runId: run,
    runPeriodStart: new Date(end.getTime() - WEEK_MS),
    runPeriodEnd: end,
    executedAt: end,
    cashflowUniqueKey: `PF:3000003:3000001:${run}:W`,
  });
}

function explanationOf(paymentId: bigint, line: string) {
  const weeks = Number(paymentId) - 940;
  const times = { earnedFrom: AT, earnedTo: AT };
  const charged = [
    { ...times, amount: "120.00", rate: "0.300000", versionId: 16n, share: "36.00" },
    { ...times, amount: "301.37", rate: "0.275000", versionId: 17n, share: "82.87675" },
  ];
  const at = new Date(END - (60 - weeks) * WEEK_MS);
  const calculation = aCalculation({
    at,
    charged,
    earned: `${weeks * 20}.00`,
    markBefore: `${weeks * 19}.00`,
    markAfter: `${weeks * 20}.00`,
  });
  return anExplanation({ paymentId, calculation, lines: [line, "The exact fee is rounded down once, to the cent."] });
}

function statementPage(count: number, after: bigint, limit: number) {
  const first = Number(after) + 1;
  const last = Math.min(count, Number(after) + limit);
  const lines = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
    const number = first + index;
    const line = aStatementLine(BigInt(number), 100n, BigInt(number) * 100n);
    return { ...line, loggedAt: new Date(END - (count - number) * 60_000) };
  });
  const balance = (number: number) => ({ number: BigInt(number), balance: cents(BigInt(number) * 100n) });
  return {
    role: AccountRole.INVESTOR,
    opening: balance(first - 1),
    closing: balance(Math.max(first - 1, last)),
    lines,
    hasMore: last < count,
  };
}
