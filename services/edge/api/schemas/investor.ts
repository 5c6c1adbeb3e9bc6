import { model } from "../../fields/field.ts";
import { at, within } from "../../fields/message.ts";
import { labelReplies } from "./labels.ts";
import { engineReply } from "./master.ts";
import {
  emailReply,
  idReply,
  investorLoginReply,
  investorNameReply,
  nullableSecretReply,
  secretReply,
  timeReply,
} from "../../fields/reply-fields.ts";

const identity = {
  id: idReply("Internal id of the Investor.", 8),
  mt5_login: at("login", investorLoginReply()),
  name: investorNameReply,
};
const createdAt = timeReply("When the Investor was created or registered.");

export const InvestorItem = model("Investor", "An Investor as the directory shows it.", {
  engine: engineReply,
  ...identity,
  created_at: createdAt,
});

export const CreatedInvestor = model("CreatedInvestor", "A new Investor with the secrets of its account.", {
  ...within("investor", { ...identity, created_at: createdAt }),
  password: at("mainPassword", secretReply("Main password of the account.")),
  investor_password: secretReply("Read-only password of the account.", { example: "Read-1234" }),
});

export const RevealedInvestor = model("InvestorWithPasswords", "An Investor with the passwords of its account.", {
  ...within("investor", identity),
  mt5_password: at("mainPassword", nullableSecretReply("Main password of the account.")),
  mt5_investor_password: at("investorPassword", nullableSecretReply("Read-only password of the account.")),
  ...within("investor", { created_at: createdAt }),
});

export const ActiveInvestor = model(
  "ActiveInvestor",
  "An Investor whose capital is in the pool of a Master.",
  identity,
);

export const InvestorProfile = model("InvestorProfile", "An Investor with your labels.", {
  ...within("investor", { engine: engineReply, ...identity }),
  email: emailReply,
  ...labelReplies,
  ...within("investor", { created_at: createdAt }),
});
