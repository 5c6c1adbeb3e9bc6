import { column, type Queryable, type Statement } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

type Plan = { readonly "Shared Hit Blocks": number; readonly "Shared Read Blocks": number };

/** Pages of tables and indexes that the statements of the work read. Unlike rowsRead it counts also entries of an index that match nothing. */
export async function buffersRead(tx: Transaction, work: (db: Queryable) => Promise<void>): Promise<number> {
  let buffers = 0;
  const query = async (statement: Statement) => {
    const [plans] = await column<readonly [{ readonly Plan: Plan }]>(tx, {
      ...statement,
      name: "",
      text: `explain (analyze, buffers, format json) ${statement.text}`,
    });
    const { "Shared Hit Blocks": hit, "Shared Read Blocks": read } = plans![0].Plan;
    buffers += hit + read;
    return await tx.query({ ...statement, values: [...statement.values] });
  };
  await work(new Proxy(tx, { get: (target, name) => (name === "query" ? query : Reflect.get(target, name, target)) }));
  return buffers;
}
