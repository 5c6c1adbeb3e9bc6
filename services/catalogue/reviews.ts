type ActionEntry = {
  readonly meaning: string;
  /** What it will do, for the person who votes for it. */
  readonly effect: string;
  /** What it does with the money that came, and with money that went where that differs; {money} is the amount and its accounts. */
  readonly inNumbers?: { readonly added: string; readonly taken?: string };
  /** Whether a vote names a deal; without it, none may be named. */
  readonly deal?: "required" | "optional";
  /** When operators choose it, in the Markdown of docs/operate/reviews.md. */
  readonly when?: string;
};

type ReasonEntry = {
  readonly meaning: string;
  /** Of the account; another one is an Investor most often, and the review does not say it. */
  readonly role?: "Master" | "Investor";
  /** Where an action has another condition, or does something else, than its entry says. */
  readonly actions?: Readonly<
    Partial<Record<Action, Partial<Pick<ActionEntry, "effect">> & { readonly when: string }>>
  >;
};

/** What operators can decide about a review. */
export const ACTIONS = actions({
  confirm_applied: {
    meaning: "The leg was applied, with the deal `deal_id`.",
    effect:
      "The leg is applied with the deal that you name. The deal has to be on this account with this amount, and must not be booked yet.",
    deal: "required",
    when: "a leg may have been applied, also a `still_unknown` one",
  },
  confirm_not_applied: {
    meaning: "The leg moved no money.",
    effect: "The leg is refused: it moved no money. If a deal of it appears later, it gets a review of its own.",
    when: "no deal of the leg exists, or the platform refused it, or it shall not be attempted again",
  },
  retry: {
    meaning: "The next attempt of the leg is made at once.",
    effect: "The next attempt of the leg is made at once, instead of after its pause.",
    when: "the attempts of a fee credit or a reversal have failed for `PAMM_REVIEW_AFTER` (`still_not_applied`); the pause is up to four hours",
  },
  reverse: {
    meaning: "The money of the deal is moved back.",
    effect: "The amount moves back by a movement of its own. If the platform refuses it, a new review is opened.",
    when: "an unmatched deal, a wrong deal, a refused reversal, or a debit whose credit was refused",
  },
  correct_log: {
    meaning: "The log is corrected by the amount: it has the balance and the positions of the platform then.",
    effect:
      "One amount, the balance less the sum of the log, makes the log equal to the account. It becomes external funds, on a Master own capital; a stopped Master can be resumed afterwards.",
    when: "published deals were deleted, edited or cancelled for good",
  },
  resume: {
    meaning: "What was stopped continues.",
    effect: "What was stopped continues, and what has waited is processed in order.",
  },
  resume_with_difference: {
    meaning: "Trading continues although the account differs from its log; exits and withdrawals wait.",
    effect:
      "Results, postings and mirrors continue. Exits, withdrawals and marks wait until the account equals its log.",
    when: "a stopped Master or the account with the difference differs from its log, and trading shall continue",
  },
  allocate: {
    meaning:
      "The money becomes a result of the pool: of the deal `deal_id` that it repairs, by the shares and at the time of that deal, or of now when `deal_id` is left out or 0.",
    effect:
      "The money becomes a result of the pool. Name the deal that it repairs: it is shared as that deal was, and has its time. Without one it is shared by the present holdings, now.",
    inNumbers: {
      added: "{money} go to the Investors of the Master, in proportion.",
      taken: "{money} are borne by the Investors of the Master, in proportion.",
    },
    deal: "optional",
    when: "the money repairs a deal, or is a charge or income of the trades; not what the account had before it was registered ([what it shares](#what-allocate-shares))",
  },
  allocate_deal: {
    meaning: "The deal `deal_id` is allocated to the present holdings.",
    effect: "The deal that you name is allocated to the current holdings.",
    deal: "required",
    when: "a deal came after a strike, or reverses another one, and has stopped its Master",
  },
  transfer_again: {
    meaning: "The right amount is transferred; the wrong one becomes own capital of the Master.",
    effect:
      "The amount that was moved becomes own capital of the Master, and the right amount is sent under a new key.",
    when: "a mirror or exit moved a wrong amount, and has stopped its Master",
  },
  adopt: {
    meaning:
      "What is there at the confirmation becomes capital of the Investor and is mirrored. Its own trades may change it after the proposal; money that another party moves needs another proposal.",
    effect:
      "What is there at the confirmation becomes capital of the Investor and is mirrored like a deposit or withdrawal: its own trades may change it, and money that another party moves ends the proposal. No fee is fixed by it.",
    inNumbers: {
      added: "{money} join the pool like a deposit, for those Investors only.",
      taken: "{money} leave the pool like a withdrawal, out of the capital of those Investors only.",
    },
    when: "a dealer moved money on an Investor in a pool, the broker charged it, or the Investor trades",
  },
  compensate_deficit: {
    meaning: "Negative shares are raised to 0.00 out of the own capital of the Master.",
    effect: "Each negative share is raised to 0.00 out of the own capital of the Master.",
    when: "the Master is flat, shares are negative, and its own capital suffices; the rest of it keeps its units",
  },
  acknowledge: {
    meaning: "The case is noted and closed; nothing is moved.",
    effect: "The review is closed. Nothing is moved.",
    inNumbers: { added: "Nothing is moved: {money} stay as they are." },
    when: "all other reviews",
  },
  withdraw_proposal: {
    meaning: "The proposal is withdrawn.",
    effect: "The proposal ends, and the reviews are open again.",
  },
});

export type Action = keyof typeof ACTIONS;

/** Why operators have to decide. */
export const REASONS = reasons({
  deal_after_absence: { meaning: "A deal of a leg appeared after its absence was proven." },
  deal_after_refusal: { meaning: "A deal of a leg appeared after the platform had refused it." },
  attempts_exhausted: { meaning: "Every attempt that a leg may have has failed." },
  amount_differs: { meaning: "The deal of a leg has another amount." },
  not_a_balance_deal: { meaning: "The deal with the reference of a leg is no balance operation." },
  two_deals: { meaning: "Two deals have the reference of one leg." },
  candidate_deal: { meaning: "A deal may be that of a leg, but has no reference that proves it." },
  sender_not_fenced: { meaning: "A process that may still send a leg cannot be excluded." },
  reported_deal_not_shown: { meaning: "The platform has confirmed a deal that its history does not show." },
  ticket_conflict: { meaning: "The platform has confirmed a leg with the ticket of another one." },
  history_changed: { meaning: "Deals of the account were deleted, edited or cancelled on the platform." },
  unmatched_deal: { meaning: "A deal with a reference of this service belongs to no leg." },
  unknown_reference: { meaning: "A deal has a reference that this service does not know." },
  misplaced_reference: { meaning: "A deal has a reference of another account." },
  reversal_refused: { meaning: "The platform refused to move an amount back." },
  debit_without_credit: { meaning: "A debit was executed, and its credit was refused." },
  external_funds: { meaning: "Money was moved on an account without this service; only recorded here." },
  imported_deal: { meaning: "A deal that a restore had lost was found again; only recorded." },
  database_behind: {
    meaning: "The platform has movements that the database lost with a restore.",
    actions: {
      resume: {
        effect:
          "Permits are granted again. It is refused until the history was read completely, a quiet period has passed, and balances and deals have no break.",
        when: "the movements that the database lost are dealt with, as in [Restore](restore.md); a refusal (409 `action_not_possible`) says what is missing. `pool_ledger` is yours to look at",
      },
    },
  },
  account_stopped: {
    meaning:
      "The account is stopped: money moved on it that no service requested, a decision lacks its votes, or its group is not in USD with two digits.",
    actions: {
      resume: {
        effect:
          "Permits are granted on the account again. The cause of each transfer and decision in the evidence has to be known; an account that was moved into another currency has to be in USD with two digits again.",
        when: "the way in is closed; the transfers are no breaks then. In another currency it is refused (409 `action_not_possible`)",
      },
    },
  },
  other_account: {
    meaning:
      "The login of the account has another account on the platform: the first deal in its log is not shown. Nothing is sent on it.",
    actions: {
      resume: {
        effect:
          "Only when the broker has confirmed that it is the account of the same person, without its history. What is on it then counts as external funds, and it is used again.",
        when: "[it is the account of the same person](waits.md#archived-accounts)",
      },
      acknowledge: {
        effect: "The login stays unusable, and the review is not opened again.",
        when: "it is of another person",
      },
    },
  },
  account_not_shown: { meaning: "The platform does not show the account any more." },
  still_not_applied: { meaning: "The attempts of a leg have failed for hours; further ones are made." },
  still_unknown: {
    meaning: "The outcome of a leg has been unknown for hours; the search goes on.",
    actions: {
      confirm_not_applied: {
        when: "the outcome has been unknown for `PAMM_REVIEW_AFTER`, and the platform answers and shows the history of this account in a form that cannot be read, a quiet period after the command was sent. In an outage it is refused (503 `platform_unavailable`), and once the history can be read (409 `action_not_possible`): then the leg ends and its review closes",
      },
    },
  },
  unreadable_history: {
    meaning: "The platform shows a deal of the account in a form that is not documented.",
    actions: {
      acknowledge: {
        effect: "The account is read again by itself until its history can be read. Report the row to the broker.",
        when: "always. Until the history can be read, withdrawals and deposits are `account_busy`, and after a restart or restore of the database nothing is sent on the account at all",
      },
    },
  },
  votes_unconfirmed: {
    meaning: "A decision does not have the votes of two clients behind it.",
    actions: {
      acknowledge: {
        effect: "The effect of the decision is accepted, and its break closes.",
        when: "the effect of the decision, which may be of any service, is accepted or undone",
      },
    },
  },
  stopped: {
    meaning: "The books of a Master and the platform differ, so the Master is stopped.",
    role: "Master",
    actions: { resume: { when: "the Master and the account with the difference equal their logs" } },
  },
  external_funds_on_investor: {
    meaning: "Money was moved on an Investor without this service, by a dealer or by trades.",
    role: "Investor",
    actions: {
      acknowledge: {
        effect:
          "What is there at the confirmation stays as it is, outside of the pool. Another review is opened only when the amount changes.",
        when: "it shall stay as it is",
      },
    },
  },
  external_funds_on_master: {
    meaning: "A Master holds money that belongs to no Investor, or lacks money.",
    role: "Master",
    actions: {
      acknowledge: {
        effect:
          "The money stays on the Master as own capital and shares in results. Another review is opened when money is moved again. What the Master lacks has to be paid in before Investors can be assigned.",
        when: "the money shall stay on the Master, as `own_capital` in the proof. Results open no other review, but own capital below zero does while Investors have money there",
      },
    },
  },
  lost_results: {
    meaning: "After a restore results of a Master differ from what was posted of them.",
    role: "Master",
    actions: {
      acknowledge: {
        effect:
          "Nothing is moved, and what was posted stays. The amount stays on the Master and settles its next deposits or assigns; with acknowledged own capital it belongs to that.",
        when: "after a restore; every account of the lost time is registered again, and `unexplained` in the evidence is still not what was posted to Investors outside of pools (`posted_outside_pools`). Operators can resume then",
      },
    },
  },
  fees_do_not_tie: {
    meaning: "The fees of a Master do not reconcile, so they are stopped.",
    role: "Master",
    actions: {
      resume: {
        effect: "Fees continue, missed weeks are decided, and waiting exits finish. Another break stops them again.",
        when: "the cause is known and corrected or accepted",
      },
    },
  },
});

export type Reason = keyof typeof REASONS;

/** A client may know fewer reasons and actions than the service that it asks. */
export function actionEntry(action: string): ActionEntry | undefined {
  return Object.hasOwn(ACTIONS, action) ? ACTIONS[action as Action] : undefined;
}

export function reasonEntry(reason: string): ReasonEntry | undefined {
  return Object.hasOwn(REASONS, reason) ? REASONS[reason as Reason] : undefined;
}

function actions<Name extends string>(all: Readonly<Record<Name, ActionEntry>>): Readonly<Record<Name, ActionEntry>> {
  return all;
}

function reasons<Name extends string>(all: Readonly<Record<Name, ReasonEntry>>): Readonly<Record<Name, ReasonEntry>> {
  return all;
}
