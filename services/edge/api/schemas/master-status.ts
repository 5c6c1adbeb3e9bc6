import { MasterState } from "#proto/pamm/account/v1/account.ts";
import { integer, model, modelOrNull, named, setOf } from "../../fields/field.ts";
import { timeReply } from "../../fields/reply-fields.ts";

export const masterStateSet = setOf("MasterState", "Where a Master is in its life.", {
  open: "Investors can be assigned",
  not_accepting: "assignments are refused; Investors who are assigned stay, top up and leave",
  closing: "every Investor leaves; assignments are refused for good",
  archived: "every Investor has left; the Master stays in the directory and no longer changes",
});

const STATES: Partial<Record<MasterState, (typeof masterStateSet.values)[number]>> = {
  [MasterState.OPEN]: "open",
  [MasterState.NOT_ACCEPTING]: "not_accepting",
  [MasterState.CLOSING]: "closing",
  [MasterState.ARCHIVED]: "archived",
};

export const closingBlockSet = setOf("ClosingBlock", "What keeps the closing of a Master from going on.", {
  master_open_positions: "the Master has open positions; it goes on when they are closed",
  safety_stop: "the Master, or its fees, are stopped until operators decide",
  investor_deficit: "the share of an Investor in the pool is negative; an operator has to cover it",
  own_capital: "operators have not acknowledged the money on the Master that belongs to no Investor",
  payment_account_archived:
    "fees of Investors who have left wait: the broker has archived the payment account; it goes on when that is shown again, or `payment_account_login` is another one",
  unavailable: "the trading platform or a service cannot be reached",
});

const Progress = model("ClosingProgress", "How far the closing of a Master is.", {
  investors_left: integer({ description: "Investors in the pool.", example: 2 }),
  exits_in_progress: integer({
    description: "Investors who have left the pool, and whose capital has not left the Master yet.",
    example: 1,
  }),
  last_progress_at: timeReply("When an Investor has left last, or the closing began."),
  blocked_by: closingBlockSet.orNull("What keeps it from going on; null when it only takes time.", null),
});

export const lifeReplies = {
  state: named(masterStateSet.of("State of the Master.", "open"), STATES),
  since: timeReply("Since when it is in this state."),
  closing: modelOrNull(Progress, "How far the closing is; null in any other state."),
};
