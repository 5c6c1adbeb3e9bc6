import type { Permissions } from "#kernel/contract/contract.ts";
import type { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";

/** The services that may call each method, with the certificate that proves their name. */
export const PERMISSIONS: Permissions<typeof FeeServiceService> = {
  configure: ["subscription"],
  getConfiguration: ["edge"],
  updateConfiguration: ["edge"],
  listVersions: ["edge"],
  cancelVersion: ["edge"],
  listPaymentCredits: ["edge"],
  listPayments: ["edge"],
  explainPayment: ["edge"],
  getPendingFee: ["edge"],
  changePaymentAccount: ["account"],
  sumPaymentCredits: ["edge"],
  getWaitingFees: ["subscription"],
  listRuns: ["edge"],
  getRun: ["edge"],
  listRunPayments: ["edge"],
  findTerms: ["subscription"],
  recordFees: ["subscription"],
  recordAnswers: ["subscription"],
  findDueItems: ["edge"],
  findKeysOfItem: ["edge"],
  findTransfers: ["platform"],
  listBreaks: ["edge"],
  listReviews: ["edge"],
  listReviewGroups: ["edge"],
  // Its actor was authenticated by the edge.
  decideReview: ["edge"],
  decideReviewGroup: ["edge"],
};
