import type { Models } from "../../../client/index.ts";
import { breaksHref, operationsHref, reviewsHref } from "../../app/addresses.ts";
import { isZero } from "../../formats/decimal.ts";

type Proof = Models["Proof"];

export type Reason = { readonly text: string; readonly href: string | undefined };

/** Why a report has not converged: what keeps the books and the platform apart, and where to look. */
export function reasonsOf(proof: Proof): readonly Reason[] {
  if (proof.converged) return [];
  const { master, total, unredeemed, lag_ms: lagMs, master_login: login } = proof;
  const accounts = [total, master, ...proof.investors];
  const some = (of: (sums: Models["ProofSums"]) => string): boolean => accounts.some((one) => !isZero(of(one)));
  const reasons: (Reason | false)[] = [
    ...proof.waits.map(({ message }) => ({ text: message, href: undefined })),
    lagMs > 0n && { text: "The last deals of the Master are not booked yet.", href: undefined },
    some((one) => one.in_flight) && {
      text: "Money is in flight: it was decided, and is not on the account yet.",
      href: operationsHref({ master_login: login, outcome: "pending" }),
    },
    some((one) => one.quarantined) && {
      text: "Money of unknown origin is quarantined until operators decide.",
      href: reviewsHref(),
    },
    some((one) => one.difference) && {
      text: "The platform and the books differ by an amount that nothing explains.",
      href: breaksHref(),
    },
    !isZero(unredeemed) && {
      text: "Units of money that has left are redeemed as soon as the open positions can be valued.",
      href: undefined,
    },
  ];
  const found = reasons.filter((reason) => reason !== false);
  return found.length > 0 ? found : [{ text: "An account further down the list has not converged.", href: undefined }];
}
