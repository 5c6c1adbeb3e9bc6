import type { CallContext } from "#kernel/contract/contract.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import type { PaymentOutcome } from "../../domain/payment-outcome.ts";
import type { DuePayment } from "../../store/due-payments.ts";
import { outcomeOf, outcomeOfError } from "./payment-transfer.ts";

/** Platform knows nothing of the key. */
const UNKNOWN_KEY = "transfer_not_found";

/** What became of a payment that may have been sent and must not be sent now; undefined when it surely was not. */
export async function lookUpPayment(
  { platform }: Pick<Deps, "platform">,
  payment: DuePayment,
  context: CallContext,
): Promise<PaymentOutcome | undefined> {
  try {
    return outcomeOf(payment, await platform.getTransfer({ key: payment.key }, context));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.code === UNKNOWN_KEY ? undefined : outcomeOfError(error);
  }
}
