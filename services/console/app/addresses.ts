import { type Filter, hrefTo } from "./router.ts";

/** Where something is shown. A page that links to something names it here. */
export const operationHref = (id: string): string => hrefTo(["operations", id]);
export const operationsHref = (filter: Filter = {}): string => hrefTo(["operations"], filter);
export const reviewHref = (id: string): string => hrefTo(["reviews", id]);
export const reviewsHref = (filter: Filter = {}): string => hrefTo(["reviews"], filter);
export const breakHref = (id: string): string => hrefTo(["breaks", id]);
export const breaksHref = (filter: Filter = {}): string => hrefTo(["breaks"], filter);
export const masterHref = (login: string): string => operationsHref({ master_login: login });
export const investorHref = (login: string): string => operationsHref({ login });
