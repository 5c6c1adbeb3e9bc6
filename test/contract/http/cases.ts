import { Refusal } from "#kernel/refusal.ts";
import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { serviceUnavailable } from "#kernel/contract/refusals.ts";
import {
  aMaster,
  aMasterProfile,
  aMasterStatus,
  anInvestor,
  anInvestorProfile,
} from "../../../services/edge/testing/replies/account.ts";
import { aCredit, aFeeConfiguration, aFeeVersion, aPayment } from "../../../services/edge/testing/replies/fee.ts";
import { anExplanation, aPendingFee } from "../../../services/edge/testing/replies/fee-explanation.ts";
import {
  aDeposit,
  anOperation,
  aCancelledWithdrawal,
  aWithdrawal,
  aWithdrawalPreview,
} from "../../../services/edge/testing/replies/funding.ts";
import { anEvent } from "../../../services/edge/testing/replies/events.ts";
import { A_WEBHOOK_SECRET, aDelivery, aWebhook } from "../../../services/edge/testing/replies/webhooks.ts";
import { otherGroup } from "../../../services/kernel/review/refusals.ts";
import { aBreak, aCheck, aReview, aReviewGroup, aReviewOfCharge } from "../../../services/edge/testing/replies/ops.ts";
import {
  anAccountProof,
  anAssignmentPreview,
  anUnassignmentPreview,
  aProof,
  aSubscription,
} from "../../../services/edge/testing/replies/subscription.ts";
import { MarketWaitReason } from "#proto/pamm/subscription/v1/subscription.ts";
import { AT, cents, LATER } from "../../../services/edge/testing/replies/values.ts";
import type { Case } from "./case.ts";
import {
  archivedRoutes,
  attemptRoutes,
  caseRoutes,
  listedKeyRoutes,
  permitRoutes,
  profileRoutes,
  runRoutes,
} from "./lookup-cases.ts";
import { historyRoutes } from "./history-cases.ts";

const eventRoutes: readonly Case[] = [
  {
    name: "list-events",
    method: "GET",
    url: "/api/v1/events?after=1023&types=deposit.*%2Csubscription.cancelled&limit=2&wait=10",
    answers: {
      events: {
        read: async () => ({
          events: [anEvent()],
          removedThrough: 900n,
          through: 1030n,
          issuedThrough: 1030n,
          hasMore: false,
        }),
      },
    },
  },
];

const webhookRoutes: readonly Case[] = [
  {
    name: "create-webhook",
    method: "POST",
    url: "/api/v1/webhooks",
    body: { url: "https://crm.example.com/pamm/events", types: "deposit.*" },
    answers: { webhooks: { create: async () => ({ webhook: aWebhook(), secret: A_WEBHOOK_SECRET }) } },
  },
  {
    name: "list-webhooks",
    method: "GET",
    url: "/api/v1/webhooks",
    answers: { webhooks: { list: async () => [aWebhook()] } },
  },
  {
    name: "get-webhook",
    method: "GET",
    url: "/api/v1/webhooks/17",
    answers: { webhooks: { get: async () => aWebhook() } },
  },
  {
    name: "update-webhook",
    method: "PATCH",
    url: "/api/v1/webhooks/17",
    body: { enabled: false },
    answers: { webhooks: { update: async () => aWebhook({ isEnabled: false }) } },
  },
  {
    name: "delete-webhook",
    method: "DELETE",
    url: "/api/v1/webhooks/17",
    answers: { webhooks: { remove: async () => aWebhook() } },
  },
  {
    name: "rotate-webhook-secret",
    method: "POST",
    url: "/api/v1/webhooks/17/rotate",
    answers: {
      webhooks: { rotate: async () => ({ webhook: aWebhook({ previousUntil: LATER }), secret: A_WEBHOOK_SECRET }) },
    },
  },
  {
    name: "replay-webhook",
    method: "POST",
    url: "/api/v1/webhooks/17/replay?after=1000",
    answers: { webhooks: { replay: async () => aWebhook({ throughEvent: 1_000n }) } },
  },
  {
    name: "list-webhook-deliveries",
    method: "GET",
    url: "/api/v1/webhooks/17/deliveries?status=pending&limit=2",
    answers: { webhooks: { deliveries: async () => ({ items: [aDelivery()], hasMore: false }) } },
  },
];

const keyRoutes: readonly Case[] = [{ name: "whoami", method: "GET", url: "/api/v1/whoami", answers: {} }];

const feeRoutes: readonly Case[] = [
  {
    name: "get-fee",
    method: "GET",
    url: "/api/v1/investor/3000003/performance-fee",
    answers: { fees: { getConfiguration: async () => aFeeConfiguration() } },
  },
  {
    name: "update-fee",
    method: "POST",
    url: "/api/v1/investor/perf-fee/update",
    body: { investor_login: "3000003", rate: 0.25, enabled: false, effective_since: "2026-01-02T05:04:05.678+02:00" },
    answers: { fees: { updateConfiguration: async () => aFeeConfiguration({ ratePpm: 250_000, enabled: false }) } },
  },
  {
    name: "list-fee-versions",
    method: "GET",
    url: "/api/v1/investor/3000003/performance-fee/versions?limit=2",
    answers: {
      fees: {
        listVersions: async () => ({
          investorLogin: "3000003",
          items: [aFeeVersion(), aFeeVersion({ id: 16n, enabled: false, effectiveSince: AT, state: "in_force" })],
          hasMore: true,
        }),
      },
    },
  },
  {
    name: "cancel-fee-version",
    method: "DELETE",
    url: "/api/v1/investor/3000003/performance-fee/versions/17",
    answers: { fees: { cancelVersion: async () => aFeeVersion({ state: "cancelled" }) } },
  },
  {
    name: "get-pending-fee",
    method: "GET",
    url: "/api/v1/investor/3000003/performance-fee/pending",
    answers: { fees: { getPendingFee: async () => aPendingFee() } },
  },
  {
    name: "explain-payment",
    method: "GET",
    url: "/api/v1/perf-fee/payments/21/explanation",
    answers: { fees: { explainPayment: async () => anExplanation() } },
  },
  {
    name: "list-payment-credits",
    method: "GET",
    url: "/api/v1/perf-fee/transactions?master_login=3000001&limit=2&cursor=30",
    answers: {
      fees: {
        listPaymentCredits: async () => ({
          paymentAccountLogin: "3000002",
          items: [aCredit(), aCredit({ id: 32n, investorLogin: undefined, kind: "PF_DEBT", amount: cents(5n) })],
          hasMore: true,
        }),
      },
    },
  },
  {
    name: "list-payments-of-investor",
    method: "GET",
    url: "/api/v1/perf-fee/investor/3000003/payments?limit=1",
    answers: {
      fees: {
        listPaymentsOfInvestor: async () => ({
          items: [{ payment: aPayment(), masterLogin: "3000001", paymentAccountLogin: "3000002" }],
          hasMore: true,
        }),
      },
    },
  },
  {
    name: "list-investor-payments",
    method: "GET",
    url: "/api/v1/perf-fee/master/3000001/investor-payments",
    answers: {
      fees: {
        listInvestorPayments: async () => ({
          masterLogin: "3000001",
          paymentAccountLogin: "3000002",
          items: [aPayment()],
          hasMore: false,
        }),
      },
    },
  },
];

const fundingRoutes: readonly Case[] = [
  {
    name: "deposit",
    method: "POST",
    url: "/api/v1/investor/deposit?login=3000003&amount=250.50&currency=USD&comment=CRM-2026-0001",
    body: { external_id: "CRM-7001", metadata: { segment: "retail" } },
    answers: { funding: { deposit: async (_request, { commandId }) => aDeposit({ operationId: commandId }) } },
  },
  {
    name: "withdraw",
    method: "POST",
    url: "/api/v1/investor/withdraw?login=3000003&amount=50",
    body: { external_id: "CRM-7001", metadata: { segment: "retail" } },
    answers: { funding: { withdraw: async (_request, { commandId }) => aWithdrawal({ operationId: commandId }) } },
  },
  {
    name: "preview-withdraw",
    method: "POST",
    url: "/api/v1/investor/withdraw/preview?login=3000003&amount=250.55",
    answers: {
      funding: { previewWithdraw: async () => aWithdrawalPreview({ effectiveWithdraw: cents(238_21n) }) },
    },
  },
  {
    name: "get-balance",
    method: "GET",
    url: "/api/v1/info/balance/3000003",
    answers: {
      funding: { getBalance: async () => ({ login: "3000003", balance: cents(250_55n), error: "", isUnknown: false }) },
    },
  },
  {
    name: "get-balances",
    method: "GET",
    url: "/api/v1/info/balances?logins=3000003%2C3999999",
    answers: {
      funding: {
        getBalances: async () => ({
          balances: [
            { login: "3000003", balance: cents(250_55n), error: "", isUnknown: false },
            { login: "3999999", balance: undefined, error: "unknown login", isUnknown: true },
          ],
        }),
      },
    },
  },
];

const notFound = () =>
  Promise.reject(
    new Refusal({ code: "operation_not_found", status: "not_found", message: "no operation has this id" }),
  );

const operationRoutes: readonly Case[] = [
  {
    name: "get-operation",
    method: "GET",
    url: "/api/v1/operations/0198c0de-0000-7000-8000-000000000001?wait=10",
    answers: { funding: { getOperation: async () => anOperation() }, subscriptions: { getOperation: notFound } },
  },
  ...attemptRoutes,
  {
    name: "cancel-operation",
    method: "DELETE",
    url: "/api/v1/operations/0198c0de-0000-7000-8000-000000000004",
    answers: {
      funding: {
        getOperation: async () => aCancelledWithdrawal(),
        cancelOperation: async () => aCancelledWithdrawal(),
      },
      subscriptions: { getOperation: notFound },
    },
  },
  {
    name: "list-operations",
    method: "GET",
    url: "/api/v1/operations?login=3000003&comment=CRM-2026-0001&outcome=executed&limit=1",
    answers: {
      funding: { listOperations: async () => ({ items: [anOperation()], hasMore: true }) },
      subscriptions: {
        listOperations: async () => ({ items: [], hasMore: false }),
        findMirrored: async () => ({ keys: [] }),
      },
      fees: { findKeysOfItem: async () => ({ keys: ["withdrawal:1"] }) },
      platform: { findTransferOfDeal: async () => ({ key: "fee:1", kind: MovementKind.FEE_DEBIT }) },
    },
  },
];

const subscriptionRoutes: readonly Case[] = [
  {
    name: "assign",
    method: "POST",
    url: "/api/v1/investor/assign",
    body: { master_login: "3000001", investor_login: "3000003", perf_fee: { rate: 0.3, enabled: true } },
    answers: { subscriptions: { assign: async () => ({ subscription: aSubscription() }) } },
  },
  {
    name: "preview-assign",
    method: "POST",
    url: "/api/v1/investor/assign/preview",
    body: { master_login: "3000001", investor_login: "3000003", perf_fee: { rate: 0.3, enabled: true } },
    answers: { subscriptions: { previewAssign: async () => anAssignmentPreview() } },
  },
  {
    name: "preview-unassign",
    method: "POST",
    url: "/api/v1/subscriptions/unassign/preview?master_login=3000001&investor_login=3000003",
    answers: { subscriptions: { previewUnassign: async () => anUnassignmentPreview() } },
  },
  {
    name: "unassign",
    method: "POST",
    url: "/api/v1/subscriptions/unassign?master_login=3000001&investor_login=3000003",
    body: { external_id: "CRM-7001", metadata: { segment: "retail" } },
    answers: {
      subscriptions: {
        unassign: async () => ({
          subscription: aSubscription({ status: 2, inPool: false }),
          payoutEnqueued: true,
          transferId: 77n,
          amount: cents(-250_50n),
        }),
      },
    },
  },
  {
    name: "search-subscriptions",
    method: "GET",
    url: "/api/v1/subscriptions?master_login=3000001&from=2026-01-01T00%3A00%3A00Z&to=2026-02-01T00%3A00%3A00Z&limit=1",
    answers: { subscriptions: { searchSubscriptions: async () => ({ items: [aSubscription()], hasMore: true }) } },
  },
  {
    name: "list-subscriptions",
    method: "GET",
    url: "/api/v1/info/subscriptions?master_login=3000001&status=CANCELLED",
    answers: {
      subscriptions: {
        listSubscriptions: async () => ({
          items: [aSubscription({ status: 3, inPool: false, endedAt: AT }), aSubscription({ id: 10n })],
          hasMore: false,
        }),
      },
    },
  },
];

const investorRoutes: readonly Case[] = [
  {
    name: "get-investor",
    method: "GET",
    url: "/api/v1/investor/8",
    answers: { accounts: { getInvestorProfile: async () => anInvestorProfile() } },
  },
  {
    name: "update-investor",
    method: "PATCH",
    url: "/api/v1/investor/8",
    body: { external_id: "CRM-7001", metadata: { segment: "retail", lead: null } },
    answers: { accounts: { updateInvestor: async () => anInvestorProfile() } },
  },
  {
    name: "search-investors",
    method: "GET",
    url: "/api/v1/investors?external_id=CRM-7001",
    answers: { accounts: { listInvestors: async () => ({ items: [anInvestorProfile()], hasMore: false }) } },
  },
  {
    name: "get-master-profile",
    method: "GET",
    url: "/api/v1/master/7/profile",
    answers: { accounts: { getMasterProfile: async () => aMasterProfile() } },
  },
  {
    name: "search-masters",
    method: "GET",
    url: "/api/v1/masters?external_id=CRM-7001",
    answers: { accounts: { listMasters: async () => ({ items: [aMasterProfile()], hasMore: false }) } },
  },
  {
    name: "list-investors",
    method: "GET",
    url: "/api/v1/investor/directory?engine=PAMM&limit=1",
    answers: { accounts: { listInvestors: async () => ({ items: [anInvestorProfile()], hasMore: true }) } },
  },
  {
    name: "add-investor",
    method: "POST",
    url: "/api/v1/investor/add",
    body: { mt5_login: "3000003", name: "Ada" },
    answers: { accounts: { addInvestor: async () => anInvestor() } },
  },
  {
    name: "create-investor",
    method: "POST",
    url: "/api/v1/investor/create",
    body: {
      first_name: "Ada",
      last_name: "Lovelace",
      name: "Ada",
      username: "ada@example.com",
      platform_group: "pamm\\investor",
    },
    answers: {
      accounts: {
        createInvestor: async () => ({
          investor: anInvestor(),
          mainPassword: "Main-1234",
          investorPassword: "Read-1234",
        }),
      },
    },
  },
  {
    name: "reveal-investor",
    method: "GET",
    url: "/api/v1/info/investor/3000003",
    answers: {
      accounts: {
        revealInvestor: async () => ({
          investor: anInvestor(),
          mainPassword: "Main-1234",
          investorPassword: "Read-1234",
        }),
      },
    },
  },
  {
    name: "get-active-master",
    method: "GET",
    url: "/api/v1/info/investor/3000003/master",
    answers: {
      subscriptions: {
        getActiveMaster: async () => ({ masterLogin: "3000001", name: "Alpha Strategy", startedAt: AT }),
      },
    },
  },
];

const masterRoutes: readonly Case[] = [
  {
    name: "list-masters",
    method: "GET",
    url: "/api/v1/master/directory?engine=PAMM",
    answers: { accounts: { listMasters: async () => ({ items: [aMasterProfile()], hasMore: false }) } },
  },
  {
    name: "add-master",
    method: "POST",
    url: "/api/v1/master/add",
    body: { mt5_login: "3000001", payment_account_login: "3000002", min_deposit: "100.50" },
    answers: {
      accounts: { addMaster: async () => aMaster({ name: "3000001", strategyName: undefined, strategy: undefined }) },
    },
  },
  {
    name: "create-master",
    method: "POST",
    url: "/api/v1/master/create",
    body: {
      first_name: "Ada",
      last_name: "Lovelace",
      name: "Alpha Strategy",
      username: "ada@example.com",
      platform_group: "pamm\\master",
      leverage: "200",
      min_deposit: "100.50",
      strategy_name: "Alpha",
      strategy: "Trend following.",
    },
    answers: {
      accounts: {
        createMaster: async () => ({ master: aMaster(), mainPassword: "Main-1234", investorPassword: "Read-1234" }),
      },
    },
  },
  {
    name: "get-master",
    method: "GET",
    url: "/api/v1/master/7",
    answers: { accounts: { getMaster: async () => aMaster({ investorsCount: undefined }) } },
  },
  {
    name: "update-master",
    method: "PATCH",
    url: "/api/v1/master/7",
    body: { min_deposit: 0 },
    answers: { accounts: { updateMaster: async () => aMaster({ minDeposit: cents(0n) }) } },
  },
  {
    name: "close-master",
    method: "POST",
    url: "/api/v1/master/7/close",
    answers: { accounts: { closeMaster: async () => aMaster() } },
  },
  {
    name: "get-master-status",
    method: "GET",
    url: "/api/v1/master/7/status",
    answers: {
      accounts: {
        getMasterStatus: async () => aMasterStatus(),
      },
    },
  },
  {
    name: "reveal-master",
    method: "GET",
    url: "/api/v1/info/master/3000001",
    answers: {
      accounts: {
        revealMaster: async () => ({ master: aMaster(), mainPassword: "Main-1234", investorPassword: "Read-1234" }),
      },
    },
  },
  {
    name: "list-master-investors",
    method: "GET",
    url: "/api/v1/info/master/3000001/investors",
    answers: {
      subscriptions: {
        listActiveInvestors: async () => ({ items: [{ id: 8n, login: "3000003", name: "Ada" }], hasMore: false }),
      },
    },
  },
];

const reviewRoutes: readonly Case[] = [
  {
    name: "list-reviews",
    method: "GET",
    url: "/api/v1/ops/reviews?state=open&limit=2",
    answers: {
      platform: { listReviews: async () => ({ items: [], hasMore: false }) },
      subscriptions: {
        listReviews: async () => ({
          items: [aReview(), aReviewOfCharge()],
          hasMore: true,
        }),
      },
      fees: { listReviews: async () => ({ items: [], hasMore: false }) },
    },
  },
  {
    name: "decide-review",
    method: "POST",
    url: "/api/v1/ops/reviews",
    body: { id: "platform-17", action: "confirm_applied", deal_id: 1234567, note: "Seen in the terminal." },
    answers: {
      platform: {
        decideReview: async () => ({
          review: aReview({
            id: 17n,
            reason: "candidate_deal",
            operationId: "4711",
            reference: "PD0F7K3M9Q2X1A",
            dealId: 1_234_567n,
            actions: [],
            state: ReviewState.DECIDED,
            decision: {
              action: "confirm_applied",
              dealId: 1_234_567n,
              note: "Seen in the terminal.",
              proposedBy: "anna",
              proposedAt: AT,
              confirmedBy: "tests",
              confirmedAt: LATER,
            },
          }),
        }),
      },
    },
  },
  {
    name: "list-review-groups",
    method: "GET",
    url: "/api/v1/ops/review-groups?limit=2",
    answers: {
      platform: { listReviewGroups: async () => ({ items: [], hasMore: false }) },
      subscriptions: { listReviewGroups: async () => ({ items: [aReviewGroup()], hasMore: false }) },
      fees: { listReviewGroups: async () => ({ items: [], hasMore: false }) },
    },
  },
  {
    name: "decide-review-group",
    method: "POST",
    url: "/api/v1/ops/review-groups",
    body: {
      group: "subscription-0123456789abcdef01234567",
      ids: "subscription-5,subscription-6",
      action: "adopt",
      note: "The dormant fee of January.",
    },
    answers: {
      subscriptions: {
        decideReviewGroup: async ({ action, note }) => {
          const proposal = { action, dealId: 0n, note, proposedBy: "anna", proposedAt: LATER };
          const review = aReviewOfCharge({
            id: 5n,
            actions: ["adopt", "withdraw_proposal"],
            state: ReviewState.PROPOSED,
            decision: { ...proposal, confirmedBy: "", confirmedAt: undefined },
          });
          const { code, message } = otherGroup();
          return {
            votes: [
              { reviewId: 5n, review, code: "", message: "" },
              { reviewId: 6n, review: undefined, code, message },
            ],
          };
        },
      },
    },
  },
  {
    name: "erase-investor",
    method: "POST",
    url: "/api/v1/ops/investors/3000003/erase",
    answers: {
      accounts: {
        eraseInvestor: async () => ({
          investor: anInvestor({ name: "erased" }),
          requestedBy: "KeyOfAnna001",
          requestedAt: AT,
          erasedAt: LATER,
          onPlatform: true,
        }),
      },
    },
  },
];

const reconciliationRoutes: readonly Case[] = [
  {
    name: "get-proof",
    method: "GET",
    url: "/api/v1/info/master/3000001/proof?limit=1",
    answers: {
      subscriptions: {
        getProof: async () =>
          aProof({
            investors: [anAccountProof({ difference: cents(-5n), inFlight: cents(7_00n), lastDealId: 0n })],
            converged: false,
            lagMs: 1_500n,
            hasMore: true,
            investorsCount: 2n,
            unredeemed: cents(5n),
            waits: [
              {
                reason: MarketWaitReason.FREE_MARGIN,
                amount: cents(390_00n),
                since: AT,
                message: "390.00 USD of fees, withdrawals or exits is above the free margin of Master 3000001.",
              },
            ],
          }),
      },
    },
  },
  {
    name: "list-breaks",
    method: "GET",
    url: "/api/v1/ops/breaks?limit=2",
    answers: {
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
  },
];

/** One valid request for each route of the specification. */
export const CASES: readonly Case[] = [
  ...historyRoutes,
  ...masterRoutes,
  ...investorRoutes,
  ...subscriptionRoutes,
  ...fundingRoutes,
  ...operationRoutes,
  ...feeRoutes,
  ...permitRoutes,
  ...archivedRoutes,
  ...runRoutes,
  ...profileRoutes,
  ...reconciliationRoutes,
  ...reviewRoutes,
  // After the lists: a fuzzed service answers as the last case says.
  ...caseRoutes,
  ...keyRoutes,
  ...listedKeyRoutes,
  ...eventRoutes,
  ...webhookRoutes,
];

/** A preview is no command: nothing is recorded of it, and it may be sent as often as a read. */
export const COMMAND_CASES = CASES.filter(({ method, url }) => method !== "GET" && !/[/]preview([?]|$)/.test(url));
