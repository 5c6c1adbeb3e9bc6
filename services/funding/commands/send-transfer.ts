import type { CallContext } from "#kernel/contract/contract.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { TransferRequest } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import type { TransferOutcome } from "../domain/transfer-outcome.ts";
import { inTimeToAnswer } from "./patience.ts";
import { outcomeOf } from "./transfer-result.ts";

/** Nothing was recorded under the key by this call. */
export type NotSent = { readonly kind: "not_sent"; readonly refusal: Refusal };

/** Asks platform for a transfer and tells apart what was recorded, what surely was not, and what nobody knows. */
export async function sendTransfer(
  { platform }: Deps,
  request: TransferRequest,
  context: CallContext,
): Promise<TransferOutcome | NotSent> {
  try {
    return outcomeOf(await platform.transfer(request, inTimeToAnswer(context)));
  } catch (error) {
    if (error instanceof Refusal) {
      return wasSurelyNotSent(error) ? { kind: "not_sent", refusal: error } : { kind: "open", doubt: "UNKNOWN" };
    }
    throw error;
  }
}

/** What platform refuses instead of recording it is as good as not sent. */
function wasSurelyNotSent({ status, outcome }: Refusal): boolean {
  return outcome === "not_executed" || status === "invalid" || status === "not_found" || status === "conflict";
}
