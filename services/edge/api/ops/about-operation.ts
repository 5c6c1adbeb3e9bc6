import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { Subjects } from "#proto/pamm/common/v1/subjects.ts";
import type { Deps } from "../../http/route.ts";
import { findOperation } from "../operations/find-operation.ts";
import { READ_MOVEMENTS_MS, readMovements, readTransfers } from "../operations/read-movements.ts";
import type { ServiceName } from "./services.ts";

export type AboutOperation = {
  /** What reviews and breaks of each service name when they are about the operation; undefined when every case is wanted. */
  readonly names: Readonly<Partial<Record<ServiceName, Subjects>>>;
  /** Services that could not be asked for its movements. */
  readonly unreachable: readonly ServiceName[];
};

/** Every case without an operation. Refused when there is no such operation: that no case is found would be taken for an answer. */
export async function aboutOperation(
  deps: Deps,
  operationId: string | undefined,
  context: CallContext,
): Promise<AboutOperation> {
  if (operationId === undefined) return { names: {}, unreachable: [] };
  const operation = await findOperation(deps, operationId, context);
  const within = childContext(context, { withinMs: READ_MOVEMENTS_MS });
  const movements = await readMovements(deps, [operation], within);
  const transfers = await readTransfers(deps, movements.found, within);
  const legs = [...transfers.found.values()].flatMap((transfer) => transfer.legs);
  const dealIds = legs.flatMap(({ dealId }) => (dealId === 0n ? [] : [dealId]));
  const named = (operationIds: string[]): Subjects => ({ operationIds, dealIds });
  return {
    names: {
      platform: named(legs.map(({ number }) => String(number))),
      subscription: named([operation.operationId]),
      funding: named([operation.operationId]),
      fee: named([]),
    },
    unreachable: [...movements.unreachable, ...transfers.unreachable],
  };
}
