import type { CallContext } from "#kernel/contract/contract.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { Deps } from "../../http/route.ts";

/** The keys of which the operations that have made a deal have one; none for a deal that no operation has made. */
export async function keysOfTicket(
  { platform, fees, subscriptions }: Deps,
  ticket: string,
  context: CallContext,
): Promise<readonly string[]> {
  const { key, kind } = await platform.findTransferOfDeal({ dealId: BigInt(ticket) }, context);
  switch (kind) {
    case MovementKind.DEPOSIT:
    case MovementKind.WITHDRAWAL:
    case MovementKind.EXIT:
      return [key];
    case MovementKind.MIRROR:
      return (await subscriptions.findMirrored({ key }, context)).keys;
    case MovementKind.FEE_DEBIT:
    case MovementKind.FEE_CREDIT:
    case MovementKind.REVERSAL:
      return (await fees.findKeysOfItem({ key }, context)).keys;
    default:
      return [];
  }
}
