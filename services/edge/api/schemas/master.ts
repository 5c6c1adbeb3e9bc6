import assert from "node:assert/strict";
import { MasterState } from "#proto/pamm/account/v1/account.ts";
import { byCode, integer, model, modelOrNull, named, setOf } from "../../fields/field.ts";
import { at, shown, within } from "../../fields/message.ts";
import {
  emailReply,
  engineReply,
  idReply,
  masterLoginReply,
  moneyReply,
  nameReply,
  nullableSecretReply,
  paymentLoginReply,
  secretReply,
  strategyNameReply,
  strategyReply,
  timeReply,
} from "../../fields/reply-fields.ts";
import { labelReplies } from "./labels.ts";

const masterStateSet = setOf("MasterState", "Where a Master is in its life.", {
  open: "Investors can be assigned",
  not_accepting: "assignments are refused; Investors who are assigned stay, top up and leave",
  closing: "every Investor leaves; assignments are refused for good",
  archived: "every Investor has left; the Master stays in the directory and no longer changes",
});

const closingBlockSet = setOf("ClosingBlock", "What keeps the closing of a Master from going on.", {
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

const lifeReplies = {
  state: named(masterStateSet.of("State of the Master.", "open"), byCode(masterStateSet.values, MasterState)),
  since: timeReply("Since when it is in this state."),
  closing: modelOrNull(Progress, "How far the closing is; null in any other state."),
};

/** The account service sets it in each response that shows it. */
const investorsCountReply = shown(
  integer({ description: "Number of active Investors: subscription ACTIVE, in the pool, not ended.", example: 2 }),
  (count: bigint | undefined) => {
    assert(count !== undefined, "the number of Investors is missing in the answer");
    return count;
  },
);

const identity = {
  id: idReply("Internal id of the Master."),
  mt5_login: at("login", masterLoginReply("Trading login.")),
  name: nameReply,
};
const strategyFields = { strategy_name: strategyNameReply, strategy: strategyReply };
const paymentAccount = paymentLoginReply("Login of the account that receives performance fees.");
const minDepositReply = moneyReply("Minimum Investor balance for an assignment, USD.", 100.5);
const createdAt = timeReply("When the Master was created or registered.");

const listed = {
  engine: engineReply,
  ...identity,
  ...strategyFields,
  investors_count: investorsCountReply,
  payment_account_login: paymentAccount,
  min_deposit: minDepositReply,
};

export const MasterItem = model("Master", "A Master as the directory shows it.", { ...listed, created_at: createdAt });

export const MasterDetails = model("MasterDetails", "A Master as it is read by its id.", {
  ...identity,
  ...strategyFields,
  created_at: createdAt,
});

export const CreatedMaster = model("CreatedMaster", "A new Master with the secrets of its trading account.", {
  ...within("master", { ...identity, ...strategyFields, created_at: createdAt }),
  password: at("mainPassword", secretReply("Main password of the trading account.")),
  investor_password: secretReply("Read-only password of the trading account.", { example: "Read-1234" }),
  ...within("master", { payment_account_login: paymentAccount }),
});

export const RevealedMaster = model("MasterWithPasswords", "A Master with the passwords of its trading account.", {
  ...within("master", identity),
  mt5_password: at("mainPassword", nullableSecretReply("Main password of the trading account.")),
  mt5_investor_password: at("investorPassword", nullableSecretReply("Read-only password of the trading account.")),
  ...within("master", {
    ...strategyFields,
    payment_account_login: paymentAccount,
    min_deposit: minDepositReply,
    created_at: createdAt,
    investors_count: investorsCountReply,
  }),
});

const profileReplies = {
  ...within("master", listed),
  email: emailReply,
  ...labelReplies,
  ...within("master", { created_at: createdAt }),
};

export const MasterProfile = model("MasterProfile", "A Master with your labels.", profileReplies);

/** Of a profile and a status together. */
export const MasterProfileWithState = model(
  "MasterProfileWithState",
  "A Master with your labels, and where it is in its life.",
  { ...within("profile", profileReplies), ...within("status", lifeReplies) },
);
