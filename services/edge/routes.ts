import type { Route } from "./route.ts";
import { listInvestors, listMasters } from "./routes/directories.ts";
import { getFee, updateFee } from "./routes/fee/configuration.ts";
import { explainPayment } from "./routes/fee/explain-payment.ts";
import { getPendingFee } from "./routes/fee/pending-fee.ts";
import { cancelFeeVersion, listFeeVersions } from "./routes/fee/versions.ts";
import { listInvestorPayments } from "./routes/fee/list-investor-payments.ts";
import { listPaymentsOfInvestor } from "./routes/fee/list-payments-of-investor.ts";
import { listPaymentCredits } from "./routes/fee/list-payment-credits.ts";
import { getRun, listRunPayments, listRuns } from "./routes/fee/runs.ts";
import { listEvents } from "./routes/events/list-events.ts";
import { listKeys } from "./routes/keys/list-keys.ts";
import { whoami } from "./routes/keys/whoami.ts";
import { deposit } from "./routes/funding/deposit.ts";
import { getBalance } from "./routes/funding/get-balance.ts";
import { previewWithdraw } from "./routes/funding/preview-withdraw.ts";
import { getBalances } from "./routes/funding/get-balances.ts";
import { withdraw } from "./routes/funding/withdraw.ts";
import { getEquity } from "./routes/history/get-equity.ts";
import { getPerformance } from "./routes/history/get-performance.ts";
import { listResults } from "./routes/history/list-results.ts";
import { getStatement } from "./routes/history/get-statement.ts";
import { listAllocations } from "./routes/history/list-allocations.ts";
import { addInvestor } from "./routes/investor/add-investor.ts";
import { createInvestor } from "./routes/investor/create-investor.ts";
import { getActiveMaster } from "./routes/investor/get-active-master.ts";
import { getInvestor } from "./routes/investor/get-investor.ts";
import { revealInvestor } from "./routes/investor/reveal-investor.ts";
import { searchInvestors } from "./routes/investor/search-investors.ts";
import { updateInvestor } from "./routes/investor/update-investor.ts";
import { addMaster } from "./routes/master/add-master.ts";
import { closeMaster } from "./routes/master/close-master.ts";
import { createMaster } from "./routes/master/create-master.ts";
import { getMaster } from "./routes/master/get-master.ts";
import { getMasterStatus } from "./routes/master/get-master-status.ts";
import { getMasterProfile, getProfileByLogin } from "./routes/master/get-master-profile.ts";
import { getProof } from "./routes/master/get-proof.ts";
import { listMasterInvestors } from "./routes/master/list-master-investors.ts";
import { revealMaster } from "./routes/master/reveal-master.ts";
import { searchMasters } from "./routes/master/search-masters.ts";
import { updateMaster } from "./routes/master/update-master.ts";
import { decideReview } from "./routes/ops/decide-review.ts";
import { eraseInvestor } from "./routes/ops/erase-investor.ts";
import { listBreaks } from "./routes/ops/list-breaks.ts";
import { getBreak, getReview } from "./routes/ops/get-case.ts";
import { listReviews } from "./routes/ops/list-reviews.ts";
import { decideReviewGroup, listReviewGroups } from "./routes/ops/review-groups.ts";
import { listArchivedAccounts } from "./routes/ops/list-archived-accounts.ts";
import { getPermits } from "./routes/ops/get-permits.ts";
import { cancelOperation } from "./routes/operations/cancel-operation.ts";
import { getOperation } from "./routes/operations/get-operation.ts";
import { listAttempts } from "./routes/operations/list-attempts.ts";
import { listOperations } from "./routes/operations/list-operations.ts";
import { createWebhook } from "./routes/webhooks/create-webhook.ts";
import { deleteWebhook, replayWebhook, rotateWebhook, updateWebhook } from "./routes/webhooks/change-webhook.ts";
import { getWebhook, listDeliveries, listWebhooks } from "./routes/webhooks/read-webhooks.ts";
import { assign } from "./routes/subscription/assign.ts";
import { listSubscriptions } from "./routes/subscription/list-subscriptions.ts";
import { previewAssign } from "./routes/subscription/preview-assign.ts";
import { previewUnassign } from "./routes/subscription/preview-unassign.ts";
import { searchSubscriptions } from "./routes/subscription/search-subscriptions.ts";
import { unassign } from "./routes/subscription/unassign.ts";

/** The whole interface, in the order of its documentation. */
export const ROUTES: readonly Route[] = [
  listMasters,
  createMaster,
  addMaster,
  getMaster,
  updateMaster,
  closeMaster,
  getMasterStatus,
  getMasterProfile,
  getProfileByLogin,
  searchMasters,
  listMasterInvestors,
  getPerformance,
  listResults,
  revealMaster,
  listInvestors,
  createInvestor,
  addInvestor,
  getInvestor,
  updateInvestor,
  searchInvestors,
  getActiveMaster,
  getEquity,
  listAllocations,
  getStatement,
  revealInvestor,
  assign,
  previewAssign,
  unassign,
  previewUnassign,
  listSubscriptions,
  searchSubscriptions,
  deposit,
  withdraw,
  previewWithdraw,
  getBalance,
  getBalances,
  listOperations,
  getOperation,
  listAttempts,
  cancelOperation,
  getFee,
  updateFee,
  listFeeVersions,
  cancelFeeVersion,
  getPendingFee,
  listInvestorPayments,
  explainPayment,
  listRuns,
  getRun,
  listRunPayments,
  listPaymentsOfInvestor,
  listPaymentCredits,
  getProof,
  listBreaks,
  listReviews,
  getReview,
  getBreak,
  getPermits,
  listArchivedAccounts,
  decideReview,
  listReviewGroups,
  decideReviewGroup,
  eraseInvestor,
  listEvents,
  createWebhook,
  listWebhooks,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhook,
  replayWebhook,
  listDeliveries,
  whoami,
  listKeys,
];
