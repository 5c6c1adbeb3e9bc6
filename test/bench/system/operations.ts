import { openDatabase } from "./database.ts";
import type { System } from "./start-system.ts";

/** Recorded deposits and withdrawals; those that have ended have their final state. */
type Counts = { readonly requested: number; readonly open: number };
export type Operations = AsyncDisposable & { readonly count: () => Promise<Counts> };

export async function countOperations(system: System): Promise<Operations> {
  const { client, [Symbol.asyncDispose]: close } = await openDatabase(system);
  return {
    async count() {
      const { rows } = await client.query<{ requested: string; open: string }>(
        `select count(*) as requested, count(*) filter (where state not in ('POSTED', 'REFUSED')) as open
         from funding.cashflow`,
      );
      return { requested: Number(rows[0]?.requested), open: Number(rows[0]?.open) };
    },
    [Symbol.asyncDispose]: close,
  };
}
