import type { Permissions } from "#kernel/contract/contract.ts";
import type { FundingServiceService } from "#proto/pamm/funding/v1/funding.ts";

/** The services that may call each method, with the certificate that proves their name. */
export const PERMISSIONS: Permissions<typeof FundingServiceService> = {
  deposit: ["edge"],
  withdraw: ["edge"],
  previewWithdraw: ["edge"],
  getBalance: ["edge"],
  getBalances: ["edge"],
  getOperation: ["edge"],
  listOperations: ["edge"],
  cancelOperation: ["edge"],
  findTransfers: ["platform"],
  listBreaks: ["edge"],
};
