import type { Route } from "../http/route.ts";
import { listInvestors, listMasters } from "./directories.ts";
import { getFee, updateFee } from "./fee/configuration.ts";
import { explainPayment } from "./fee/explain-payment.ts";
import { getPendingFee } from "./fee/pending-fee.ts";
import { cancelFeeVersion, listFeeVersions } from "./fee/versions.ts";
import { listInvestorPayments } from "./fee/list-investor-payments.ts";
import { listPaymentsOfInvestor } from "./fee/list-payments-of-investor.ts";
import { listPaymentCredits } from "./fee/list-payment-credits.ts";
import { getRun, listRunPayments, listRuns } from "./fee/runs.ts";
import { listEvents } from "./events/list-events.ts";
import { listKeys } from "./keys/list-keys.ts";
import { whoami } from "./keys/whoami.ts";
import { deposit } from "./funding/deposit.ts";
import { getBalance, getBalances } from "./funding/get-balance.ts";
import { previewWithdraw } from "./funding/preview-withdraw.ts";
import { withdraw } from "./funding/withdraw.ts";
import { getEquity } from "./history/get-equity.ts";
import { getPerformance } from "./history/get-performance.ts";
import { listResults } from "./history/list-results.ts";
import { getStatement } from "./history/get-statement.ts";
import { listAllocations } from "./history/list-allocations.ts";
import { addInvestor } from "./investor/add-investor.ts";
import { createInvestor } from "./investor/create-investor.ts";
import { getActiveMaster } from "./investor/get-active-master.ts";
import { getInvestor } from "./investor/get-investor.ts";
import { revealInvestor } from "./investor/reveal-investor.ts";
import { searchInvestors } from "./investor/search-investors.ts";
import { updateInvestor } from "./investor/update-investor.ts";
import { addMaster } from "./master/add-master.ts";
import { closeMaster } from "./master/close-master.ts";
import { createMaster } from "./master/create-master.ts";
import { getMaster } from "./master/get-master.ts";
import { getMasterProfile } from "./master/get-master-profile.ts";
import { getProof } from "./master/get-proof.ts";
import { listMasterInvestors } from "./master/list-master-investors.ts";
import { revealMaster } from "./master/reveal-master.ts";
import { searchMasters } from "./master/search-masters.ts";
import { updateMaster } from "./master/update-master.ts";
import { decideReview } from "./ops/decide-review.ts";
import { eraseInvestor } from "./ops/erase-investor.ts";
import { listBreaks } from "./ops/list-breaks.ts";
import { getBreak, getReview } from "./ops/get-case.ts";
import { listReviews } from "./ops/list-reviews.ts";
import { decideReviewGroup, listReviewGroups } from "./ops/review-groups.ts";
import { listArchivedAccounts } from "./ops/list-archived-accounts.ts";
import { getPermits } from "./ops/get-permits.ts";
import { cancelOperation } from "./operations/cancel-operation.ts";
import { getOperation } from "./operations/get-operation.ts";
import { listAttempts } from "./operations/list-attempts.ts";
import { listOperations } from "./operations/list-operations.ts";
import { createWebhook } from "./webhooks/create-webhook.ts";
import { deleteWebhook, replayWebhook, rotateWebhook, updateWebhook } from "./webhooks/change-webhook.ts";
import { getWebhook, listDeliveries, listWebhooks } from "./webhooks/read-webhooks.ts";
import { assign } from "./subscription/assign.ts";
import { listSubscriptions } from "./subscription/list-subscriptions.ts";
import { previewAssign } from "./subscription/preview-assign.ts";
import { previewUnassign } from "./subscription/preview-unassign.ts";
import { searchSubscriptions } from "./subscription/search-subscriptions.ts";
import { unassign } from "./subscription/unassign.ts";

/** The whole interface, in the order of its documentation. */
export const ROUTES: readonly Route[] = [
  listMasters,
  createMaster,
  addMaster,
  getMaster,
  updateMaster,
  closeMaster,
  getMasterProfile,
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
