import type { Models } from "../../../client/index.ts";
import { reasonEntry } from "../../../catalogue/reviews.ts";

/** The account of a review is a Master for these reasons; otherwise it is an Investor most often, and the review does not say it. */
export function isAboutMaster({ reason }: Pick<Models["Review"], "reason">): boolean {
  return reasonEntry(reason)?.role === "Master";
}

/** The subject of a break names the role of its account where its check knows it. */
export function isOfMaster({ login, key, master_login: master }: Models["Break"]): boolean {
  return login !== null && (key === `master:${login}` || login === master);
}
