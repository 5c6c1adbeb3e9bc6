import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import type { Deps } from "../../deps.ts";
import type { Mark } from "../../domain/pool/strike-pool.ts";
import { catchUp } from "../filing/catch-up.ts";

/** What a Master shows at a place of its log, which is filed up to there. */
export type MasterReading = {
  /** Before it was asked. */
  readonly askedAt: Date;
  readonly logNumber: bigint;
  /** Balance and open positions are exactly those that the log leaves. */
  readonly isComplete: boolean;
  readonly marks: readonly Mark[];
};

export async function readMaster(deps: Deps, login: string, context: CallContext): Promise<MasterReading> {
  const askedAt = deps.now();
  const { complete: isComplete, positions, logNumber } = await deps.platform.readAccount({ login }, context);
  await catchUp(deps, { login, upTo: logNumber }, context);
  const marks = positions.map(({ positionId, symbol, volume, profit, swap }) => ({
    positionId,
    symbol,
    volume,
    floating: moneyFromProto(profit, "profit").minor + moneyFromProto(swap, "swap").minor,
  }));
  return { askedAt, logNumber, isComplete, marks };
}
