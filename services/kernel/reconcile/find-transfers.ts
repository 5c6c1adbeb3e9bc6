import type { FindTransfersRequest, FindTransfersResponse } from "#proto/pamm/common/v1/ownership.ts";
import { usdToProto } from "../contract/money.ts";
import { MAX_PAGE_SIZE } from "../values/page.ts";
import type { Queryable } from "../postgres/query.ts";
import { refusalsOf } from "../values/refusal.ts";

/** A leg of a transfer as its service requests it. Cents, signed; undefined when the service has compared the log entry itself and forgotten it. */
export type OwnedLeg = {
  readonly key: string;
  readonly login: string;
  readonly kind: string;
  readonly amountMinor: bigint | undefined;
};

const { refuse } = refusalsOf({ validation_failed: "invalid" });

/** The rpc of every service that requests transfers: those of the keys that it has recorded. */
export async function findTransfers(
  db: Queryable,
  { keys }: FindTransfersRequest,
  list: (db: Queryable, keys: readonly string[]) => Promise<readonly OwnedLeg[]>,
): Promise<FindTransfersResponse> {
  if (keys.length < 1 || keys.length > MAX_PAGE_SIZE) {
    throw refuse("validation_failed", `A request has 1 to ${MAX_PAGE_SIZE} keys.`);
  }
  const legs = await list(db, keys);
  return {
    legs: legs.map(({ amountMinor, ...leg }) => ({
      ...leg,
      amount: amountMinor === undefined ? undefined : usdToProto(amountMinor),
    })),
  };
}
