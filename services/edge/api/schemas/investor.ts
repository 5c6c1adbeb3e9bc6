import assert from "node:assert/strict";
import type { Investor, InvestorProfile as InvestorProfileMessage } from "#proto/pamm/account/v1/account.ts";
import { timestamp } from "../../wire/timestamp.ts";
import { model } from "../../fields/field.ts";
import { labelReplies, labelsReply } from "./labels.ts";
import { engineReply } from "./master.ts";
import {
  emailReply,
  idReply,
  investorLoginReply,
  investorNameReply,
  nullableSecretReply,
  secretReply,
  timeReply,
} from "./reply-fields.ts";

const identity = {
  id: idReply("Internal id of the Investor.", 8),
  mt5_login: investorLoginReply(),
  name: investorNameReply,
};
const createdAt = timeReply("When the Investor was created or registered.");

export const InvestorItem = model("Investor", "An Investor as the directory shows it.", {
  engine: engineReply,
  ...identity,
  created_at: createdAt,
});

export const CreatedInvestor = model("CreatedInvestor", "A new Investor with the secrets of its account.", {
  ...identity,
  created_at: createdAt,
  password: secretReply("Main password of the account."),
  investor_password: secretReply("Read-only password of the account.", { example: "Read-1234" }),
});

export const RevealedInvestor = model("InvestorWithPasswords", "An Investor with the passwords of its account.", {
  ...identity,
  mt5_password: nullableSecretReply("Main password of the account."),
  mt5_investor_password: nullableSecretReply("Read-only password of the account."),
  created_at: createdAt,
});

export const ActiveInvestor = model(
  "ActiveInvestor",
  "An Investor whose capital is in the pool of a Master.",
  identity,
);

/** The fields that every reply about an Investor has. */
export function investorFields({ id, login, name, createdAt }: Investor) {
  return { id, mt5_login: login, name, created_at: timestamp(createdAt) };
}

export function investorItem(investor: Investor | undefined) {
  assert(investor !== undefined, "the Investor is missing in the answer");
  return { engine: "PAMM" as const, ...investorFields(investor) };
}

export const InvestorProfile = model("InvestorProfile", "An Investor with your labels.", {
  engine: engineReply,
  ...identity,
  email: emailReply,
  ...labelReplies,
  created_at: createdAt,
});

export function investorProfile({ investor, email, labels }: InvestorProfileMessage) {
  const { created_at, ...known } = investorItem(investor);
  return { ...known, email: email ?? null, ...labelsReply(labels), created_at };
}
