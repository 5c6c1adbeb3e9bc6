import assert from "node:assert/strict";
import {
  emailReply,
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
import { always, at, shown, within } from "../../fields/message.ts";
import { labelReplies } from "./labels.ts";
import { engineSet } from "../../fields/currency.ts";
import { integer, model } from "../../fields/field.ts";
import { lifeReplies } from "./master-status.ts";

export const engineReply = always(engineSet.of("Engine of the account.", "PAMM"), "PAMM");

/** The account service sets it in each response that shows it. */
export const investorsCountReply = shown(
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
