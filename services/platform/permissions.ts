import type { ServiceName } from "#catalogue/services.ts";
import type { Permissions } from "#kernel/contract/contract.ts";
import type { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";

/** The services that may call each method, with the certificate that proves their name. */
export const PERMISSIONS: Permissions<typeof PlatformServiceService> = {
  createAccount: ["account"],
  disableAccount: ["account"],
  inspectClosing: ["account"],
  eraseAccount: ["account"],
  inspectAccounts: ["account"],
  adoptAccount: ["account"],
  transfer: ["fee", "funding", "subscription"],
  transferBatch: ["fee", "subscription"],
  transferChain: ["subscription"],
  readTransfers: ["edge", "fee", "funding"],
  findTransferOfDeal: ["edge"],
  readAttempts: ["edge"],
  hold: ["subscription"],
  previewHold: ["subscription"],
  release: ["subscription"],
  readLog: ["fee", "subscription"],
  readStatement: ["edge"],
  findAmendments: ["edge"],
  readAccount: ["subscription"],
  readBalances: ["funding", "subscription"],
  readLogBalances: ["fee", "subscription"],
  // Its actor was authenticated by the edge.
  getStatus: ["edge"],
  getPermits: ["edge", "fee", "subscription"],
  reportRecovered: ["fee", "subscription"],
  listImportedFees: ["fee"],
  claimImportedFees: ["fee"],
  listUnshownAccounts: ["edge"],
  listBreaks: ["edge", "fee", "subscription"],
  listReviews: ["edge"],
  listReviewGroups: ["edge"],
  // Its actor was authenticated by the edge.
  decideReview: ["edge"],
  decideReviewGroup: ["edge"],
};

/** The services that read its feeds. */
export const READERS: readonly ServiceName[] = ["funding", "subscription"];
