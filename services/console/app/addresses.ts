import { type Filter, hrefTo } from "./router.ts";

/** Where something is shown. A page that links to something names it here. */
export const operationHref = (id: string): string => hrefTo(["operations", id]);
export const operationsHref = (filter: Filter = {}): string => hrefTo(["operations"], filter);
export const reviewHref = (id: string): string => hrefTo(["reviews", id]);
export const reviewGroupHref = (id: string): string => hrefTo(["reviews", "groups", id]);
export const reviewsHref = (filter: Filter = {}): string => hrefTo(["reviews"], filter);
export const breakHref = (id: string): string => hrefTo(["breaks", id]);
export const breaksHref = (filter: Filter = {}): string => hrefTo(["breaks"], filter);
export const mastersHref = (filter: Filter = {}): string => hrefTo(["masters"], filter);
export const masterHref = (login: string, view = "", filter: Filter = {}): string =>
  hrefTo(["masters", login, view].filter(isNamed), filter);
export const investorsHref = (filter: Filter = {}): string => hrefTo(["investors"], filter);
export const investorHref = (login: string, view = "", filter: Filter = {}): string =>
  hrefTo(["investors", login, view].filter(isNamed), filter);
export const feeRunsHref = (filter: Filter = {}): string => hrefTo(["fee-runs"], filter);
/** The Master is where the way back leads. */
export const feeRunHref = (id: bigint, master: string): string =>
  hrefTo(["fee-runs", id.toString()], { master_login: master });
export const feePaymentHref = (id: bigint): string => hrefTo(["fee-runs", "payments", id.toString()]);

function isNamed(part: string): boolean {
  return part !== "";
}
