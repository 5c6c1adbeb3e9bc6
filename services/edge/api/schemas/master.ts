import assert from "node:assert/strict";
import type { Master, MasterProfile as MasterProfileMessage } from "#proto/pamm/account/v1/account.ts";
import { moneyNumber } from "../../wire/money.ts";
import { timestamp } from "../../wire/timestamp.ts";
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
} from "./reply-fields.ts";
import { labelReplies, labelsReply } from "./labels.ts";
import { engineSet } from "../../fields/currency.ts";
import { integer, model } from "../../fields/field.ts";
import { lifeReplies } from "./master-status.ts";

export const engineReply = engineSet.of("Engine of the account.", "PAMM");

export const investorsCountReply = integer({
  description: "Number of active Investors: subscription ACTIVE, in the pool, not ended.",
  example: 2,
});

const identity = {
  id: idReply("Internal id of the Master."),
  mt5_login: masterLoginReply("Trading login."),
  name: nameReply,
};
const strategyFields = { strategy_name: strategyNameReply, strategy: strategyReply };
const paymentAccount = paymentLoginReply("Login of the account that receives performance fees.");
const minDepositReply = moneyReply("Minimum Investor balance for an assignment, USD.", 100.5);
const createdAt = timeReply("When the Master was created or registered.");

export const MasterItem = model("Master", "A Master as the directory shows it.", {
  engine: engineReply,
  ...identity,
  ...strategyFields,
  investors_count: investorsCountReply,
  payment_account_login: paymentAccount,
  min_deposit: minDepositReply,
  created_at: createdAt,
});

export const MasterDetails = model("MasterDetails", "A Master as it is read by its id.", {
  ...identity,
  ...strategyFields,
  created_at: createdAt,
});

export const CreatedMaster = model("CreatedMaster", "A new Master with the secrets of its trading account.", {
  ...identity,
  ...strategyFields,
  created_at: createdAt,
  password: secretReply("Main password of the trading account."),
  investor_password: secretReply("Read-only password of the trading account.", { example: "Read-1234" }),
  payment_account_login: paymentAccount,
});

export const RevealedMaster = model("MasterWithPasswords", "A Master with the passwords of its trading account.", {
  ...identity,
  mt5_password: nullableSecretReply("Main password of the trading account."),
  mt5_investor_password: nullableSecretReply("Read-only password of the trading account."),
  ...strategyFields,
  payment_account_login: paymentAccount,
  min_deposit: minDepositReply,
  created_at: createdAt,
  investors_count: investorsCountReply,
});

/** The fields that every reply about a Master has. A text that was never given is empty. */
export function masterFields({ id, login, name, strategyName, strategy, createdAt }: Master) {
  return {
    id,
    mt5_login: login,
    name,
    strategy_name: strategyName ?? "",
    strategy: strategy ?? "",
    created_at: timestamp(createdAt),
  };
}

export function masterItem(master: Master | undefined) {
  assert(master !== undefined, "the Master is missing in the answer");
  return {
    engine: "PAMM" as const,
    ...masterFields(master),
    investors_count: investorsCount(master),
    payment_account_login: master.paymentAccountLogin,
    min_deposit: moneyNumber(master.minDeposit),
  };
}

/** The account service sets it in each response that shows it. */
export function investorsCount({ investorsCount: count }: Master): bigint {
  assert(count !== undefined, "the number of Investors is missing in the answer");
  return count;
}

const profileReplies = {
  engine: engineReply,
  ...identity,
  ...strategyFields,
  investors_count: investorsCountReply,
  payment_account_login: paymentAccount,
  min_deposit: minDepositReply,
  email: emailReply,
  ...labelReplies,
  created_at: createdAt,
};

export const MasterProfile = model("MasterProfile", "A Master with your labels.", profileReplies);

export const MasterProfileWithState = model(
  "MasterProfileWithState",
  "A Master with your labels, and where it is in its life.",
  { ...profileReplies, ...lifeReplies },
);

export function masterProfile({ master, email, labels }: MasterProfileMessage) {
  const { created_at, ...known } = masterItem(master);
  return { ...known, email: email ?? null, ...labelsReply(labels), created_at };
}
