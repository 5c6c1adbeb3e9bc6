import { usd } from "#kernel/money.ts";
import { execute, maybeOne, sql, type Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Master } from "../domain/master.ts";
import { insertAnsweredCommand } from "./answered-commands.ts";

/** What of an answer others may change later. */
type Changeable = Pick<Master, "name" | "strategyName" | "strategy" | "minDeposit">;
export type AnsweredMaster = { readonly master: Master; readonly investorsCount: bigint };

/** With what the command does, in one commit; fails when the command was carried out before. */
export async function insertAnsweredMaster(
  tx: Transaction,
  { commandId, at }: { readonly commandId: string; readonly at: Date },
  { master, investorsCount }: AnsweredMaster,
): Promise<void> {
  if (commandId === "") return;
  await insertAnsweredCommand(tx, { commandId, subjectId: master.id, at });
  const { name, strategyName, strategy, minDeposit } = master;
  await execute(
    tx,
    sql`insert into answered_master (command_id, name, strategy_name, strategy, min_deposit_minor, investors_count)
        values (${commandId}, ${name}, ${strategyName}, ${strategy}, ${minDeposit.minor}, ${investorsCount})`,
  );
}

type Row = {
  name: string;
  strategy_name: string | null;
  strategy: string | null;
  min_deposit_minor: bigint;
  investors_count: bigint;
};

/** Undefined for commands of before these answers were kept. */
export async function findAnsweredMaster(
  db: Queryable,
  commandId: string,
): Promise<(Changeable & { readonly investorsCount: bigint }) | undefined> {
  const row = await maybeOne<Row>(
    db,
    sql`select name, strategy_name, strategy, min_deposit_minor, investors_count
        from answered_master
        where command_id = ${commandId}`,
  );
  if (row === undefined) return undefined;
  return {
    name: row.name,
    strategyName: row.strategy_name ?? undefined,
    strategy: row.strategy ?? undefined,
    minDeposit: usd(row.min_deposit_minor),
    investorsCount: row.investors_count,
  };
}
