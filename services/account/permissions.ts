import type { ServiceName } from "#catalogue/services.ts";
import type { Permissions } from "#kernel/contract/contract.ts";
import type { AccountServiceService } from "#proto/pamm/account/v1/account.ts";

/** The services that may call each method, with the certificate that proves their name. */
export const PERMISSIONS: Permissions<typeof AccountServiceService> = {
  createMaster: ["edge"],
  addMaster: ["edge"],
  getMaster: ["edge", "fee"],
  findMaster: ["edge", "fee", "funding", "subscription"],
  updateMaster: ["edge"],
  closeMaster: ["edge"],
  getMasterStatus: ["edge"],
  listMasters: ["edge"],
  revealMaster: ["edge"],
  createInvestor: ["edge"],
  addInvestor: ["edge"],
  findInvestor: ["edge", "fee", "funding", "subscription"],
  listInvestors: ["edge"],
  revealInvestor: ["edge"],
  // Its actor was authenticated by the edge.
  eraseInvestor: ["edge"],
  getMasterProfile: ["edge"],
  getInvestorProfile: ["edge"],
  updateInvestor: ["edge"],
  findAccounts: ["edge", "fee", "funding", "subscription"],
  findPaymentAccounts: ["platform"],
};

/** The services that read its feeds. */
export const READERS: readonly ServiceName[] = ["funding"];
