import pg from "pg";
import type { System } from "./start-system.ts";

/** Recorded deposits and withdrawals; those that have ended have their final state. */
export type Counts = { readonly requested: number; readonly open: number; readonly ended: number };
export type Operations = AsyncDisposable & { readonly count: () => Promise<Counts> };

export async function countOperations({ postgresUrl }: System): Promise<Operations> {
  const url = new URL(postgresUrl);
  url.pathname = "/pamm";
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  return {
    async count() {
      const { rows } = await client.query<{ requested: string; ended: string }>(
        `select count(*) as requested, count(*) filter (where state in ('POSTED', 'REFUSED')) as ended
         from funding.cashflow`,
      );
      const [requested, ended] = [Number(rows[0]?.requested), Number(rows[0]?.ended)];
      return { requested, ended, open: requested - ended };
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}
