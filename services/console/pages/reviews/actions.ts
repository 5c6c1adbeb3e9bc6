import type { Models } from "../../../client/index.ts";
import { actionEntry, reasonEntry } from "../../../catalogue/reviews.ts";

type Review = Models["Review"];
export type Action = Review["actions"][number];

/** What an action will do about a review of this reason. */
export function effectOf(reason: string, action: Action): string {
  return (
    reasonEntry(reason)?.actions?.[action]?.effect ??
    actionEntry(action)?.effect ??
    "This version of the console does not know the action: see the guide for operators."
  );
}

export function needsDeal(action: string): boolean {
  return actionEntry(action)?.deal === "required";
}

export function mayNameDeal(action: string): boolean {
  return actionEntry(action)?.deal !== undefined;
}

/** `withdraw_proposal` is offered apart from the decisions. */
export function decisionsOf({ actions }: Pick<Review, "actions">): readonly Action[] {
  return actions.filter((action) => action !== "withdraw_proposal");
}
