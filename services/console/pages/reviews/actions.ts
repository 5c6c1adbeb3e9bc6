import type { Models } from "../../../client/index.ts";

type Review = Models["Review"];
export type Action = Review["actions"][number];

/** What an action will do, as in docs/operate/reviews.md. */
const EFFECTS: Readonly<Partial<Record<Action, string>>> = {
  confirm_applied:
    "The leg is applied with the deal that you name. The deal has to be on this account with this amount, and must not be booked yet.",
  confirm_not_applied:
    "The leg is refused: it moved no money. If a deal of it appears later, it gets a review of its own.",
  retry: "The next attempt of the leg is made at once, instead of after its pause.",
  reverse: "The amount moves back by a movement of its own. If the platform refuses it, a new review is opened.",
  correct_log:
    "The log is corrected to what the platform shows now. The amount becomes external funds, on a Master own capital; a stopped Master can be resumed afterwards.",
  resume: "What was stopped continues, and what has waited is processed in order.",
  resume_with_difference:
    "Results, postings and mirrors continue. Exits, withdrawals and marks wait until the account equals its log.",
  allocate:
    "The money becomes a result of the pool. Name the deal that it repairs: it is shared as that deal was, and has its time. Without one it is shared by the present holdings, now.",
  allocate_deal: "The deal that you name is allocated to the current holdings.",
  transfer_again:
    "The amount that was moved becomes own capital of the Master, and the right amount is sent under a new key.",
  adopt:
    "What is there at the confirmation becomes capital of the Investor and is mirrored like a deposit or withdrawal: its own trades may change it, and money that another party moves ends the proposal. No fee is fixed by it.",
  compensate_deficit: "Each negative share is raised to 0.00 out of the own capital of the Master.",
  acknowledge: "The review is closed. Nothing is moved.",
};

/** Where an action of the same name does something else. */
const EFFECTS_BY_REASON: Readonly<Record<string, string>> = {
  "external_funds_on_investor acknowledge":
    "What is there at the confirmation stays as it is, outside of the pool. Another review is opened only when the amount changes.",
  "external_funds_on_master acknowledge":
    "The money stays on the Master as own capital and shares in results. Another review is opened when money is moved again. What the Master lacks has to be paid in before Investors can be assigned.",
  "lost_results acknowledge":
    "Nothing is moved, and what was posted stays. The amount stays on the Master and settles its next deposits or assigns; with acknowledged own capital it belongs to that.",
  "fees_do_not_tie resume":
    "Fees continue, missed weeks are decided, and waiting exits finish. Another break stops them again.",
  "database_behind resume":
    "Permits are granted again. It is refused until the history was read completely, a quiet period has passed, and balances and deals have no break.",
  "account_stopped resume":
    "Permits are granted on the account again. The cause of each transfer and decision in the evidence has to be known; an account that was moved into another currency has to be in USD with two digits again.",
  "other_account resume":
    "Only when the broker has confirmed that it is the account of the same person, without its history. What is on it then counts as external funds, and it is used again.",
  "other_account acknowledge": "The login stays unusable, and the review is not opened again.",
  "votes_unconfirmed acknowledge": "The effect of the decision is accepted, and its break closes.",
  "unreadable_history acknowledge":
    "The account is read again by itself until its history can be read. Report the row to the broker.",
};

export function effectOf(reason: string, action: Action): string {
  return (
    EFFECTS_BY_REASON[`${reason} ${action}`] ??
    EFFECTS[action] ??
    "This version of the console does not know the action: see the guide for operators."
  );
}

export function needsDeal(action: string): boolean {
  return action === "confirm_applied" || action === "allocate_deal";
}

export function mayNameDeal(action: string): boolean {
  return needsDeal(action) || action === "allocate";
}

/** `withdraw_proposal` is offered apart from the decisions. */
export function decisionsOf({ actions }: Pick<Review, "actions">): readonly Action[] {
  return actions.filter((action) => action !== "withdraw_proposal");
}
