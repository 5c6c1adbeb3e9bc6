import type { Route, Tag, Unnamed } from "../http/route.ts";
import { listEvents } from "./events/list-events.ts";
import { cancelFeeVersion, getFeeConfiguration, listFeeVersions, updateFeeConfiguration } from "./fee/configuration.ts";
import { getFeePaymentExplanation, getPendingFee } from "./fee/explanations.ts";
import { listFeePayments, listFeePaymentsOfInvestor, listPaymentCredits } from "./fee/payments.ts";
import { getFeeRun, listFeeRunPayments, listFeeRuns } from "./fee/runs.ts";
import { getBalance, getBalances } from "./funding/balance.ts";
import { depositFunds } from "./funding/deposit.ts";
import { previewWithdrawal } from "./funding/preview-withdraw.ts";
import { withdrawFunds } from "./funding/withdraw.ts";
import { listAllocations } from "./history/allocations.ts";
import { getEquity } from "./history/equity.ts";
import { getPerformance } from "./history/performance.ts";
import { listResults } from "./history/results.ts";
import { getStatement } from "./history/statement.ts";
import {
  createInvestor,
  getActiveMaster,
  getInvestor,
  getInvestorWithPasswords,
  listInvestorProfiles,
  listInvestors,
  registerInvestor,
  updateInvestor,
} from "./investor/investors.ts";
import { getApiKey, listApiKeys } from "./keys/keys.ts";
import {
  closeMaster,
  createMaster,
  getMaster,
  getMasterProfile,
  getMasterWithPasswords,
  listMasterInvestors,
  listMasterProfiles,
  listMasters,
  registerMaster,
  updateMaster,
} from "./master/masters.ts";
import { getProof } from "./master/proof.ts";
import { listAttempts } from "./operations/attempts.ts";
import { listOperations } from "./operations/list-operations.ts";
import { cancelOperation, getOperation } from "./operations/operations.ts";
import { listArchivedAccounts } from "./ops/archived-accounts.ts";
import { getBreak, listBreaks } from "./ops/breaks.ts";
import { eraseInvestor } from "./ops/erase-investor.ts";
import { getPermits } from "./ops/permits.ts";
import { decideReviewGroup, listReviewGroups } from "./ops/review-groups.ts";
import { decideReview, getReview, listReviews } from "./ops/reviews.ts";
import { assignInvestor, previewAssignment } from "./subscription/assign.ts";
import { listSubscriptionPages, listSubscriptions } from "./subscription/subscriptions.ts";
import { previewUnassignment, unassignInvestor } from "./subscription/unassign.ts";
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhookDeliveries,
  listWebhooks,
  replayWebhook,
  rotateWebhookSecret,
  updateWebhook,
} from "./webhooks/webhooks.ts";

/**
 * The whole interface by the sections of its documentation, in its order. The name of a route is its operationId, a verb and a noun, and so the
 * name of its method in generated clients.
 */
const SECTIONS: readonly (readonly [Tag, Readonly<Record<string, Unnamed>>])[] = [
  [
    "Masters",
    {
      listMasters,
      createMaster,
      registerMaster,
      getMaster,
      updateMaster,
      closeMaster,
      getMasterProfile,
      listMasterProfiles,
      listMasterInvestors,
      getPerformance,
      listResults,
      getMasterWithPasswords,
    },
  ],
  [
    "Investors",
    {
      listInvestors,
      createInvestor,
      registerInvestor,
      getInvestor,
      updateInvestor,
      listInvestorProfiles,
      getActiveMaster,
      getEquity,
      listAllocations,
      getStatement,
      getInvestorWithPasswords,
    },
  ],
  [
    "Subscriptions",
    {
      assignInvestor,
      previewAssignment,
      unassignInvestor,
      previewUnassignment,
      listSubscriptions,
      listSubscriptionPages,
    },
  ],
  ["Funds", { depositFunds, withdrawFunds, previewWithdrawal, getBalance, getBalances }],
  ["Operations", { listOperations, getOperation, listAttempts, cancelOperation }],
  [
    "Performance fees",
    {
      getFeeConfiguration,
      updateFeeConfiguration,
      listFeeVersions,
      cancelFeeVersion,
      getPendingFee,
      listFeePayments,
      getFeePaymentExplanation,
      listFeeRuns,
      getFeeRun,
      listFeeRunPayments,
      listFeePaymentsOfInvestor,
      listPaymentCredits,
    },
  ],
  ["Reconciliation", { getProof, listBreaks }],
  ["Reviews", { listReviews, getReview }],
  ["Reconciliation", { getBreak, getPermits, listArchivedAccounts }],
  ["Reviews", { decideReview, listReviewGroups, decideReviewGroup }],
  ["Investors", { eraseInvestor }],
  ["Events", { listEvents }],
  [
    "Webhooks",
    {
      createWebhook,
      listWebhooks,
      getWebhook,
      updateWebhook,
      deleteWebhook,
      rotateWebhookSecret,
      replayWebhook,
      listWebhookDeliveries,
    },
  ],
  ["API keys", { getApiKey, listApiKeys }],
];

export const ROUTES: readonly Route[] = SECTIONS.flatMap(([tag, routes]) =>
  Object.entries(routes).map(([operationId, route]) => route({ operationId, tag })),
);
