import process from "node:process";
import type pg from "pg";
import type { System } from "../system/start-system.ts";
import { until } from "../until.ts";

/** The first payment after a service was resumed or killed. */
const PAYS_WITHIN_MS = 120_000;

/** Seconds from the kill to the next payment that fee records, or to the next leg that platform applies. */
export async function killAndResume(system: System, client: pg.Client, name: "fee" | "platform"): Promise<number> {
  await nextPayment(client);
  process.kill(system.processes().get(name) ?? 0, "SIGKILL");
  const startedMs = performance.now();
  // Fee may still record answers that platform gave before it was killed.
  await (name === "fee" ? nextPayment(client) : nextLeg(client));
  return (performance.now() - startedMs) / 1_000;
}

/** Resolves when one more payment is recorded. */
export async function nextPayment(client: pg.Client): Promise<void> {
  const before = await countPaid(client);
  await until(async () => (await countPaid(client)) > before, PAYS_WITHIN_MS, "no payment is made any more");
}

async function countPaid(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ paid: string }>({
    name: "paid",
    text: "select coalesce(sum(executed_count), 0) as paid from fee.fee_run",
  });
  return Number(rows[0]?.paid);
}

/** Resolves when one more leg is applied. */
async function nextLeg(client: pg.Client): Promise<void> {
  const from = await databaseNow(client);
  await until(async () => (await countLegs(client, from)) > 0, PAYS_WITHIN_MS, "no leg is applied any more");
}

export async function databaseNow(client: pg.Client): Promise<Date> {
  const { rows } = await client.query<{ now: Date }>("select clock_timestamp() as now");
  const now = rows[0]?.now;
  if (now === undefined) throw new Error("the database shows no time");
  return now;
}

/** Fee legs that were applied after an instant of the database. */
export async function countLegs(client: pg.Client, from: Date): Promise<number> {
  const { rows } = await client.query<{ legs: string }>(
    "select count(*) as legs from platform.leg where applied_at > $1 and kind in ('fee_debit', 'fee_credit')",
    [from],
  );
  return Number(rows[0]?.legs);
}
