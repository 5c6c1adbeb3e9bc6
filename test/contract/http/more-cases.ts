import { MasterState } from "#proto/pamm/account/v1/account.ts";
import { OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";
import { Refusal } from "#kernel/refusal.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aMaster } from "../../../services/edge/testing/replies/account.ts";
import { anExplanation, aPendingFee } from "../../../services/edge/testing/replies/fee-explanation.ts";
import {
  anOperation,
  aQueuedWithdrawal,
  aWithdrawal,
  aWithdrawalPreview,
} from "../../../services/edge/testing/replies/funding.ts";
import {
  anAssignmentPreview,
  anUnassignmentPreview,
  aSubscription,
} from "../../../services/edge/testing/replies/subscription.ts";
import { aReason, AT, cents, LATER } from "../../../services/edge/testing/replies/values.ts";
import { aBreak, aReview } from "../../../services/edge/testing/replies/ops.ts";
import type { Case } from "./case.ts";
import { outsidePool } from "./history-cases.ts";

type PlatformCases = NonNullable<Case["answers"]["platform"]>;

const NONE = { items: [], hasMore: false };
const AN_ID = "0198c0de-0000-7000-8000-000000000003";

const OPEN_POSITIONS = aReason(
  "master_open_positions",
  "The Master has open positions: 2. Retry when they are closed.",
  { open_positions: "2" },
);
const NOT_ASSIGNABLE = [
  aReason("investor_has_open_positions", "The Investor has open positions: 2. Close them first.", {
    open_positions: "2",
  }),
  aReason("below_min_deposit", "Investor balance 50.00 USD is below the Master's minimum deposit of 100.00 USD.", {
    required: "100.00",
    actual: "50.00",
  }),
];
const ENDING = aReason(
  "exit_in_progress",
  "The subscription of Investor 3000004 to Master 3000001 is already ending (subscription id 9).",
);

/** A deposit with one leg, about which the services have these cases. */
function withCases(ofPlatform: Pick<PlatformCases, "listReviews" | "listBreaks">): Case["answers"] {
  const none = { listReviews: async () => NONE, listBreaks: async () => ({ ...NONE, checks: [] }) };
  const leg = { login: "3000003", kind: MovementKind.DEPOSIT, amount: cents(250_50n), appliedAt: AT, number: 4711n };
  const state = TransferState.APPLIED;
  return {
    funding: { ...none, getOperation: async () => anOperation({ transferKeys: ["funding:deposit:1"] }) },
    subscriptions: {
      ...none,
      getOperation: () =>
        Promise.reject(new Refusal({ code: "operation_not_found", status: "not_found", message: "no operation" })),
      findMirrors: async () => ({ items: [] }),
    },
    fees: none,
    platform: {
      ...none,
      readTransfers: async () => ({
        transfers: [
          {
            transferId: 31n,
            key: "funding:deposit:1",
            state,
            refusalCode: "",
            platformCode: 0,
            legs: [{ ...leg, state, dealId: 1_234_567n, reference: "PD0F7K3M9Q2X1A" }],
          },
        ],
      }),
      ...ofPlatform,
    },
  };
}

/** Further examples of the documentation; they need no golden file, because the documentation has the answer. */
export const MORE_CASES: readonly Case[] = [
  {
    name: "list-reviews-of-operation",
    method: "GET",
    url: "/api/v1/ops/reviews?operation_id=0198c0de-0000-7000-8000-000000000001",
    answers: withCases({
      listReviews: async () => ({
        items: [
          aReview({
            reason: "candidate_deal",
            login: "3000003",
            amount: cents(250_50n),
            operationId: "4711",
            reference: "PD0F7K3M9Q2X1A",
            dealId: 1_234_567n,
            evidence: '{"log_before_minor":"0"}',
            actions: ["confirm_applied", "confirm_not_applied"],
          }),
        ],
        hasMore: false,
      }),
    }),
  },
  {
    name: "list-breaks-of-operation",
    method: "GET",
    url: "/api/v1/ops/breaks?operation_id=0198c0de-0000-7000-8000-000000000001",
    answers: withCases({ listBreaks: async () => ({ items: [aBreak()], checks: [], hasMore: false }) }),
  },
  {
    name: "list-operations-by-ticket",
    method: "GET",
    url: "/api/v1/operations?ticket=1234567",
    answers: {
      platform: {
        findTransferOfDeal: async () => ({ key: "funding:deposit:1", kind: MovementKind.DEPOSIT }),
        readTransfers: async () => ({ transfers: [] }),
      },
      funding: {
        listOperations: async () => ({ items: [anOperation({ transferKeys: ["funding:deposit:1"] })], hasMore: false }),
      },
      subscriptions: {
        listOperations: async () => ({ items: [], hasMore: false }),
        findMirrors: async () => ({ items: [] }),
      },
    },
  },
  {
    name: "list-operations-of-no-deal",
    method: "GET",
    url: "/api/v1/operations?ticket=7654321",
    answers: { platform: { findTransferOfDeal: async () => ({ key: "", kind: MovementKind.UNSPECIFIED }) } },
  },
  {
    name: "withdraw-queued",
    method: "POST",
    url: "/api/v1/investor/withdraw?login=3000003&amount=50&comment=CRM-2026-0004&on_blocked=queue&expires_in=P2D",
    answers: {
      funding: { withdraw: async (_request, { commandId }) => aQueuedWithdrawal({ operationId: commandId }) },
    },
  },
  {
    name: "unassign-queued",
    method: "POST",
    url: "/api/v1/subscriptions/unassign?master_login=3000001&investor_login=3000003&on_blocked=queue",
    answers: {
      subscriptions: {
        unassign: async () => ({
          subscription: aSubscription(),
          payoutEnqueued: false,
          transferId: undefined,
          amount: cents(0n),
          queuedUntil: LATER,
        }),
      },
    },
  },
  outsidePool,
  {
    name: "update-master-payment-account",
    method: "PATCH",
    url: "/api/v1/master/7",
    body: { payment_account_login: "3000006" },
    answers: { accounts: { updateMaster: async () => aMaster({ paymentAccountLogin: "3000006" }) } },
  },
  {
    name: "get-master-status-closing",
    method: "GET",
    url: "/api/v1/master/8/status",
    answers: {
      accounts: {
        getMasterStatus: async () => ({
          id: 8n,
          login: "3000005",
          state: MasterState.CLOSING,
          since: AT,
          closing: {
            investorsLeft: 2n,
            exitsInProgress: 1n,
            lastProgressAt: LATER,
            blockedBy: "master_open_positions",
          },
        }),
      },
    },
  },
  {
    name: "update-master-not-accepting",
    method: "PATCH",
    url: "/api/v1/master/7",
    body: { accepting_investors: false },
    answers: { accounts: { updateMaster: async () => aMaster({ acceptingInvestors: false }) } },
  },
  {
    name: "withdraw-reduced",
    method: "POST",
    url: "/api/v1/investor/withdraw?login=3000003&amount=1000.00&comment=CRM-2026-0002",
    answers: {
      funding: {
        withdraw: async (_request, { commandId }) =>
          aWithdrawal({
            operationId: commandId,
            requestedAmount: cents(1_000_00n),
            effectiveWithdraw: cents(238_21n),
            pendingFee: cents(12_34n),
            availableAfterFee: cents(238_21n),
          }),
      },
    },
  },
  {
    name: "withdraw-no-funds",
    method: "POST",
    url: "/api/v1/investor/withdraw?login=3000003&amount=10.00&comment=CRM-2026-0003",
    answers: {
      funding: {
        withdraw: async (_request, { commandId }) =>
          aWithdrawal({
            operationId: commandId,
            requestedAmount: cents(10_00n),
            effectiveWithdraw: cents(0n),
            balanceBefore: cents(0n),
            availableAfterFee: cents(0n),
            dealId: undefined,
          }),
      },
    },
  },
  {
    name: "explain-debt",
    method: "GET",
    url: "/api/v1/perf-fee/payments/22/explanation",
    answers: {
      fees: {
        explainPayment: async () =>
          anExplanation({
            paymentId: 22n,
            kind: "PF_DEBT",
            status: "DEFERRED",
            cashflowUniqueKey: "PF:3000003:3000001:12:DEBT",
            due: cents(12_34n),
            prepaid: cents(2_00n),
            amount: cents(0n),
            uncollected: cents(10_34n),
            executedAt: undefined,
            calculation: undefined,
            flows: undefined,
            debtParts: [{ paymentId: 20n, amount: cents(7_00n), owedSince: AT }],
            missing: [{ code: "debt_parts", message: "This debt comes from more payments than are shown." }],
            lines: ["7.00 of it is of payment 20, owed since 2026-01-02 03:04:05 UTC."],
          }),
      },
    },
  },
  {
    name: "pending-fee-outside",
    method: "GET",
    url: "/api/v1/investor/3000004/performance-fee/pending",
    answers: {
      fees: {
        getPendingFee: async () =>
          aPendingFee({
            investorLogin: "3000004",
            masterLogin: undefined,
            enabled: false,
            pending: cents(0n),
            fee: cents(0n),
            debt: cents(0n),
            calculation: undefined,
            debts: [],
            lines: ["Fees are switched off: nothing is collected, debts included."],
          }),
      },
    },
  },
  {
    name: "preview-withdraw-blocked",
    method: "POST",
    url: "/api/v1/investor/withdraw/preview?login=3000003&amount=50&comment=CRM-2026-0001",
    answers: {
      funding: {
        previewWithdraw: async () => ({
          ...aWithdrawalPreview({ effectiveWithdraw: cents(50_00n) }),
          refusals: [OPEN_POSITIONS],
        }),
      },
    },
  },
  {
    name: "preview-assign-blocked",
    method: "POST",
    url: "/api/v1/investor/assign/preview",
    body: { master_login: "3000001", investor_login: "3000004", perf_fee: { rate: 0.3, enabled: true } },
    answers: {
      subscriptions: {
        previewAssign: async () => anAssignmentPreview({ balance: cents(50_00n), refusals: NOT_ASSIGNABLE }),
      },
    },
  },
  {
    name: "preview-unassign-blocked",
    method: "POST",
    url: "/api/v1/subscriptions/unassign/preview?master_login=3000001&investor_login=3000004",
    answers: {
      subscriptions: {
        previewUnassign: async () =>
          anUnassignmentPreview({
            refusals: [ENDING],
            subscription: aSubscription({ status: 2, inPool: false, investorLogin: "3000004" }),
            figures: undefined,
          }),
      },
    },
  },
  {
    name: "get-balance-unknown",
    method: "GET",
    url: "/api/v1/info/balance/3999999",
    answers: {
      funding: {
        getBalance: async () => ({ login: "3999999", balance: undefined, error: "unknown login", isUnknown: true }),
      },
    },
  },
  {
    name: "get-active-master-none",
    method: "GET",
    url: "/api/v1/info/investor/3000004/master",
    answers: {
      subscriptions: {
        getActiveMaster: async () => ({ masterLogin: undefined, name: undefined, startedAt: undefined }),
      },
    },
  },
  {
    name: "unassign-at-once",
    method: "POST",
    url: "/api/v1/subscriptions/unassign?master_login=3000001&investor_login=3000004",
    answers: {
      subscriptions: {
        unassign: async () => ({
          subscription: aSubscription({ id: 10n, investorLogin: "3000004", status: 3, inPool: false, endedAt: AT }),
          payoutEnqueued: false,
          transferId: undefined,
          amount: cents(0n),
        }),
      },
    },
  },
  {
    name: "get-operation-refused",
    method: "GET",
    url: `/api/v1/operations/${AN_ID}`,
    answers: {
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
  },
];
