import { many, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { OpenTransfer, HoldingFlow } from "../domain/books.ts";

type MirrorFlowRow = {
  readonly id: bigint;
  readonly key: string;
  readonly amount: bigint;
  readonly subscriptionId: bigint;
  readonly flowAmount: bigint;
};

type ExitRow = { readonly id: bigint; readonly key: string; readonly subscriptionId: bigint; readonly amount: bigint };

/** The open mirrors and exit transfers with these keys. */
export async function loadOpenTransfers(tx: Transaction, keys: readonly string[]): Promise<OpenTransfer[]> {
  if (keys.length === 0) return [];
  const mirrorRows = await many<MirrorFlowRow>(
    tx,
    sql`select mirror.id, mirror.key, mirror.amount_minor as amount, flow.subscription_id as "subscriptionId",
               flow.amount_minor as "flowAmount"
        from mirror join flow on flow.mirror_id = mirror.id
        where mirror.key = any(${keys}::text[]) and mirror.state = 'OPEN'
        order by mirror.id, flow.id`,
  );
  const exitRows = await many<ExitRow>(
    tx,
    sql`select id, key, subscription_id as "subscriptionId", -amount_minor as amount
        from exit_transfer
        where key = any(${keys}::text[]) and state = 'OPEN'
        order by id`,
  );
  return [...toMirrors(mirrorRows), ...exitRows.map(toExit)];
}

function toMirrors(rows: readonly MirrorFlowRow[]): OpenTransfer[] {
  return [...Map.groupBy(rows, ({ id }) => id).values()].map((group) => {
    const [{ id, key, amount }] = group as [MirrorFlowRow];
    const flows = group.map(({ subscriptionId, flowAmount }): HoldingFlow => ({ subscriptionId, amount: flowAmount }));
    return { kind: "mirror", id, key, amount, flows };
  });
}

function toExit({ id, key, subscriptionId, amount }: ExitRow): OpenTransfer {
  return { kind: "exit", id, key, amount, flows: [{ subscriptionId, amount }] };
}
