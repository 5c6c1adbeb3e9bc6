import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { Refusal } from "#kernel/refusal.ts";
import { OperationOutcome, type OperationLeg } from "#proto/pamm/funding/v1/funding.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type TransferLegResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";

/** More transfers than one exit ever has. */
export const MOST_KEYS = 20;
/** The ledger answers what it knows rather than wait longer for what others know. */
const ASK_MS = 2_000;

const OUTCOMES: Readonly<Record<TransferState, OperationOutcome>> = {
  [TransferState.UNSPECIFIED]: OperationOutcome.UNKNOWN,
  [TransferState.PENDING]: OperationOutcome.PENDING,
  [TransferState.UNKNOWN]: OperationOutcome.UNKNOWN,
  [TransferState.APPLIED]: OperationOutcome.EXECUTED,
  [TransferState.REFUSED]: OperationOutcome.NOT_EXECUTED,
  [TransferState.REVIEW]: OperationOutcome.REVIEW,
};

const KINDS: Partial<Readonly<Record<MovementKind, string>>> = {
  [MovementKind.FEE_DEBIT]: "fee_debit",
  [MovementKind.FEE_CREDIT]: "fee_credit",
  [MovementKind.EXIT]: "exit",
  [MovementKind.REVERSAL]: "reversal",
};

/** What platform has recorded under some keys, in their order. What cannot be asked now is left out. */
export async function askLegs(deps: Deps, keys: readonly string[], context: CallContext): Promise<OperationLeg[]> {
  const soon = childContext(context, { withinMs: ASK_MS });
  const results = await Promise.all(keys.slice(0, MOST_KEYS).map((key) => legsOf(deps, key, soon)));
  return results.flat();
}

/** Keys of the transfers that take the fees of an exit; none when fee cannot be asked now. */
export async function askFeeKeys({ fees, log }: Deps, key: string, context: CallContext): Promise<string[]> {
  try {
    const { items } = await fees.listDueItems({ key }, childContext(context, { withinMs: ASK_MS }));
    return items.map((item) => item.key);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    log.warn("the fees of an operation cannot be listed now", { key, error });
    return [];
  }
}

async function legsOf({ platform, log }: Deps, key: string, context: CallContext): Promise<OperationLeg[]> {
  try {
    const { legs } = await platform.getTransfer({ key }, context);
    return legs.map(legMessage);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // Nothing was recorded under it, so there is no leg.
    if (error.code !== "transfer_not_found") log.warn("a transfer cannot be looked up now", { key, error });
    return [];
  }
}

function legMessage({ login, kind, amount, state, dealId, reference, appliedAt }: TransferLegResult): OperationLeg {
  const outcome = OUTCOMES[state];
  return {
    login,
    kind: KINDS[kind] ?? "",
    amount,
    outcome,
    dealId: dealId === 0n ? undefined : dealId,
    reference,
    appliedAt,
  };
}
