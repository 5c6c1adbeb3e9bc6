import assert from "node:assert/strict";
import type { Static } from "typebox";
import type { AccountProof } from "#proto/pamm/subscription/v1/subscription.ts";
import { jsonInteger } from "../wire/json-number.ts";
import { moneyNumber } from "../wire/money.ts";
import { model, nullableInteger, string } from "./field.ts";
import { moneyReply } from "./reply-fields.ts";

const amounts = {
  platform_balance: moneyReply("Balance on the trading platform.", 1020),
  ledger_balance: moneyReply("Expected balance.", 1020),
  in_flight: moneyReply("Decided but not yet executed on the account; signed.", 0),
  quarantined: moneyReply("External funds and own capital of the Master that await a decision; signed.", 0),
  own_capital: moneyReply("Own capital of the Master that operators have acknowledged: it shares in results.", 0),
  difference: moneyReply("Platform balance less expected balance: the unexplained amount.", 0),
};

export const SumItem = model("ProofSums", "The sums of all accounts of a report.", amounts);

export const ProofItem = model("AccountProof", "One account of a report.", {
  mt5_login: string({ description: "Login of the account.", example: "3000003" }),
  ...amounts,
  last_deal_id: nullableInteger({
    description: "Ticket of the last booked deal; null before the first.",
    example: 1_234_567,
  }),
});

export function sumItem(proof: AccountProof | undefined): Static<typeof SumItem> {
  assert(proof !== undefined, "a sum is missing in the answer");
  return {
    platform_balance: moneyNumber(proof.platformBalance),
    ledger_balance: moneyNumber(proof.ledgerBalance),
    in_flight: moneyNumber(proof.inFlight),
    quarantined: moneyNumber(proof.quarantined),
    own_capital: moneyNumber(proof.ownCapital),
    difference: moneyNumber(proof.difference),
  };
}

export function proofItem(proof: AccountProof | undefined): Static<typeof ProofItem> {
  assert(proof !== undefined, "an account is missing in the answer");
  const { login, lastDealId } = proof;
  return { mt5_login: login, ...sumItem(proof), last_deal_id: lastDealId === 0n ? null : jsonInteger(lastDealId) };
}
