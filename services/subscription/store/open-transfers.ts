import { many, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { OpenTransfer, HoldingFlow } from "../domain/books.ts";

type Row = {
  readonly kind: "mirror" | "exit";
  readonly id: bigint;
  readonly key: string;
  readonly amount: bigint;
  readonly subscriptionId: bigint;
  readonly flowAmount: bigint;
};

/** The open mirrors and exit transfers with these keys. */
export async function loadOpenTransfers(tx: Transaction, keys: readonly string[]): Promise<OpenTransfer[]> {
  if (keys.length === 0) return [];
  const rows = await many<Row>(
    tx,
    sql`select 'mirror' as kind, mirror.id, mirror.key, mirror.amount_minor as amount,
               flow.subscription_id as "subscriptionId", flow.amount_minor as "flowAmount", flow.id as flow
        from mirror join flow on flow.mirror_id = mirror.id
        where mirror.key = any(${keys}::text[]) and mirror.state = 'OPEN'
        union all
        select 'exit', id, key, -amount_minor, subscription_id, -amount_minor, 0
        from exit_transfer
        where key = any(${keys}::text[]) and state = 'OPEN'
        order by kind, id, flow`,
  );
  return [...Map.groupBy(rows, ({ key }) => key).values()].map((group) => {
    const [{ kind, id, key, amount }] = group as [Row];
    const flows = group.map(({ subscriptionId, flowAmount }): HoldingFlow => ({ subscriptionId, amount: flowAmount }));
    return { kind, id, key, amount, flows };
  });
}
