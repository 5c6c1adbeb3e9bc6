import { setOf } from "../../fields/field.ts";

export const reviewingService = setOf("ReviewingService", "A service that keeps reviews; its name begins their ids.", {
  platform: "Movements on the trading platform, and its accounts.",
  subscription: "Pools of Masters.",
  fee: "Performance fees.",
});

export const reviewState = setOf("ReviewState", "Status of a review.", {
  open: "No action is proposed.",
  proposed: "An action is proposed, and another owner of an API key has to confirm it.",
  decided: "The action was confirmed and executed.",
});

export const reviewReason = setOf("ReviewReason", "Why operators have to decide. New reasons may be added.", {
  deal_after_absence: "A deal of a leg appeared after its absence was proven.",
  deal_after_refusal: "A deal of a leg appeared after the platform had refused it.",
  applied_deal_gone: "The deal of an applied leg is not shown any more.",
  applied_deal_differs: "The deal of an applied leg was changed.",
  attempts_exhausted: "Every attempt that a leg may have has failed.",
  amount_differs: "The deal of a leg has another amount.",
  not_a_balance_deal: "The deal with the reference of a leg is no balance operation.",
  two_deals: "Two deals have the reference of one leg.",
  candidate_deal: "A deal may be that of a leg, but has no reference that proves it.",
  sender_not_fenced: "A process that may still send a leg cannot be excluded.",
  reported_deal_not_shown: "The platform has confirmed a deal that its history does not show.",
  ticket_conflict: "The platform has confirmed a leg with the ticket of another one.",
  deal_gone: "A recorded deal was deleted.",
  deal_changed: "A recorded deal was edited.",
  deal_cancelled: "A recorded deal was cancelled.",
  unmatched_deal: "A deal with a reference of this service belongs to no leg.",
  unknown_reference: "A deal has a reference that this service does not know.",
  misplaced_reference: "A deal has a reference of another account.",
  reversal_refused: "The platform refused to move an amount back.",
  debit_without_credit: "A debit was executed, and its credit was refused.",
  external_funds: "Money was moved on an account without this service; only recorded here.",
  imported_deal: "A deal that a restore had lost was found again; only recorded.",
  database_behind: "The platform has movements that the database lost with a restore.",
  account_stopped:
    "The account is stopped: money moved on it that no service requested, a decision lacks its votes, or its group is not in USD with two digits.",
  other_account:
    "The login of the account has another account on the platform: the first deal in its log is not shown. Nothing is sent on it.",
  account_not_shown: "The platform does not show the account any more.",
  still_not_applied: "The attempts of a leg have failed for hours; further ones are made.",
  still_unknown: "The outcome of a leg has been unknown for hours; the search goes on.",
  unreadable_history: "The platform shows a deal of the account in a form that is not documented.",
  votes_unconfirmed: "A decision does not have the votes of two clients behind it.",
  stopped: "The books of a Master and the platform differ, so the Master is stopped.",
  external_funds_on_investor: "Money was moved on an Investor without this service, by a dealer or by trades.",
  external_funds_on_master: "A Master holds money that belongs to no Investor, or lacks money.",
  lost_results: "After a restore results of a Master differ from what was posted of them.",
  fees_do_not_tie: "The fees of a Master do not reconcile, so they are stopped.",
});

export const reviewAction = setOf("ReviewAction", "A decision about a review. New actions may be added.", {
  confirm_applied: "The leg was applied, with the deal `deal_id`.",
  confirm_not_applied: "The leg moved no money.",
  retry: "The next attempt of the leg is made at once.",
  reverse: "The money of the deal is moved back.",
  correct_log: "The log is corrected to what the platform shows now.",
  resume: "What was stopped continues.",
  resume_with_difference: "Trading continues although the account differs from its log; exits and withdrawals wait.",
  allocate:
    "The money becomes a result of the pool: of the deal `deal_id` that it repairs, by the shares and at the time of that deal, or of now when `deal_id` is left out or 0.",
  allocate_deal: "The deal `deal_id` is allocated to the present holdings.",
  transfer_again: "The right amount is transferred; the wrong one becomes own capital of the Master.",
  adopt:
    "What is there at the confirmation becomes capital of the Investor and is mirrored. Its own trades may change it after the proposal; money that another party moves needs another proposal.",
  compensate_deficit: "Negative shares are raised to 0.00 out of the own capital of the Master.",
  acknowledge: "The case is noted and closed; nothing is moved.",
  withdraw_proposal: "The proposal is withdrawn.",
});
