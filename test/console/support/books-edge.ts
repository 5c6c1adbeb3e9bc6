import { OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";
import {
  aMaster,
  aMasterProfile,
  aMasterStatus,
  anInvestor,
  anInvestorProfile,
} from "../../../services/edge/api/samples/account.ts";
import {
  aCredit,
  aFeeConfiguration,
  aFeeVersion,
  aPendingFee,
  aRun,
  aRunPayment,
} from "../../../services/edge/api/samples/fee.ts";
import { anAllocation, anEquity, aWithdrawalPreview } from "../../../services/edge/api/samples/history.ts";
import { granted } from "../../../services/edge/api/samples/ops.ts";
import { anAccountProof, aProof, aSubscription } from "../../../services/edge/api/samples/subscription.ts";
import { cents } from "../../../services/edge/api/samples/values.ts";
import { DIST } from "../../../services/edge/http/static/manifest.ts";
import { type TestEdge, testEdge } from "../../../services/edge/testing/test-edge.ts";
import { dayNumber, explanationOf, paymentNumber, resultPage, statementPage } from "./books.ts";
import { HOSTILE, operationNumber } from "./console-edge.ts";

/** How many days, movements, results, payments and Investors there are. */
export type Books = {
  readonly days: number;
  readonly rows: number;
  /** Script in the names and sentences. */
  readonly isHostile?: boolean;
};

/** A name without a place to break it, which no page may be wider for. */
const LONG = aMaster({ login: "3000009", name: "Momentum".repeat(12) });

/** The real edge, in front of services whose books are as long as is asked for. */
export function booksEdge({ days, rows, isHostile = false }: Books): Promise<TestEdge> {
  const stored = (text: string): string => (isHostile ? HOSTILE : text);
  const master = aMaster({ name: stored("Alpha Strategy"), strategy: "Trend following.\n\nFlat at night." });
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
    app: { dist: DIST },
    accounts: {
      listMasters: async () => ({
        items: [aMasterProfile({ master }), aMasterProfile({ master: LONG })],
        hasMore: false,
      }),
      getMasterProfile: async () => aMasterProfile({ master }),
      getMasterStatus: async () => aMasterStatus(),
      findMaster: async () => master,
      listInvestors: async () => ({ items: [anInvestorProfile()], hasMore: false }),
      findInvestor: async () => anInvestor(),
      getInvestorProfile: async () => anInvestorProfile({ investor: anInvestor({ name: stored("Ada Brown") }) }),
    },
    subscriptions: {
      ...NO_CASES,
      listPerformance: async () => ({ days: all, openingValue: "", hasMore: false, maxDrawdownPpm: 250_000 }),
      listResults: async ({ beforeLogNumber, limit }) => resultPage(rows, beforeLogNumber, limit),
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
      getPermits: async () => granted,
      listUnshownAccounts: async () => ({ accounts: [], hasMore: false, archived: 0n, unconfirmed: 0n }),
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
      getPendingFee: async () => (isHostile ? aPendingFee({ lines: [HOSTILE] }) : aPendingFee()),
      explainPayment: async ({ paymentId }) => explanationOf(paymentId, stored("The high-water mark rises.")),
      ...runsOf(rows),
      listPayments: async () => ({ paymentAccountLogin: "3000002", items: payments, hasMore: false }),
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
  listReviewGroups: async () => ({ items: [], hasMore: false }),
  listReviews: async () => ({ items: [], hasMore: false }),
  listBreaks: async () => ({ items: [], hasMore: false, checks: [] }),
};

const share = (index: number): bigint => BigInt(1_000_000 - index * 70_000);

/** One week with a payment of each Investor, up to a page of them; none without rows. */
function runsOf(rows: number) {
  const payments = Array.from({ length: Math.min(rows, 100) }, (_, index) =>
    aRunPayment({ id: BigInt(index + 1_000) }),
  );
  return {
    listRuns: async () => ({ items: rows === 0 ? [] : [aRun({ id: 100n })], hasMore: false }),
    getRun: async ({ runId }: { readonly runId: bigint }) => aRun({ id: runId, payments: BigInt(payments.length) }),
    listRunPayments: async () => ({ items: payments, hasMore: false }),
  };
}
