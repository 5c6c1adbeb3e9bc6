import type { ServiceName } from "#catalogue/services.ts";
import type { Permissions } from "#kernel/contract/contract.ts";
import type { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";

/** The services that may call each method, with the certificate that proves their name. */
export const PERMISSIONS: Permissions<typeof SubscriptionServiceService> = {
  assign: ["edge"],
  cancelOperation: ["edge"],
  unassign: ["edge"],
  closeMaster: ["account"],
  getClosing: ["account"],
  previewAssign: ["edge"],
  previewUnassign: ["edge"],
  listSubscriptions: ["edge", "fee"],
  searchSubscriptions: ["edge"],
  getActiveMaster: ["edge"],
  listActiveInvestors: ["edge"],
  countActiveInvestors: ["account", "edge"],
  findOpenSubscription: ["account", "funding"],
  withdraw: ["funding"],
  cancelWithdrawal: ["funding"],
  previewWithdrawal: ["funding"],
  returnReserve: ["fee"],
  getEquity: ["edge"],
  listInvestorAllocations: ["edge"],
  listPerformance: ["edge"],
  listResults: ["edge"],
  getFeeFloors: ["fee"],
  decidePendingFee: ["fee"],
  sumFlows: ["fee"],
  findMirrors: ["edge"],
  findMirrored: ["edge"],
  getOperation: ["edge"],
  listOperations: ["edge"],
  getProof: ["edge"],
  findTransfers: ["platform"],
  findPooled: ["platform"],
  listBreaks: ["edge", "fee"],
  listReviews: ["edge"],
  listReviewGroups: ["edge"],
  // Its actor was authenticated by the edge.
  decideReview: ["edge"],
  decideReviewGroup: ["edge"],
};

/** The services that read its feeds. */
export const READERS: readonly ServiceName[] = ["funding"];
