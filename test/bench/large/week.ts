import type pg from "pg";
import type { Usage } from "../limit-of.ts";
import type { System } from "../system/start-system.ts";
import { startStopwatch } from "../system/stopwatch.ts";
import { until, untilDone } from "../until.ts";

const WITHIN_MS = 900_000;

/** The end of a fee week, step by step. */
export type PlannedWeek = {
  readonly subscriptions: number;
  readonly payments: number;
  /** Until subscription has closed the week of every Master. */
  readonly closingSeconds: number;
  readonly seconds: number;
  readonly usage: Usage;
};

/** Each step alone: fee is stopped while the week is closed, and platform until all payments are planned. */
export async function planWeek(system: System, client: pg.Client): Promise<PlannedWeek> {
  system.signal("fee", "SIGSTOP");
  const startedMs = performance.now();
  try {
    const { rows } = await client.query<{ end: Date }>(
      `update subscription.master_pool set weeks_closed_through = weeks_closed_through - interval '7 days'
       where weeks_closed_through is not null returning weeks_closed_through + interval '7 days' as end`,
    );
    const text = "select not exists (select from subscription.master_pool where weeks_closed_through < $1) as is_done";
    await untilDone(client, { text, values: [rows[0]?.end] }, WITHIN_MS, "a week is not closed in time");
  } finally {
    system.signal("platform", "SIGSTOP");
    system.signal("fee", "SIGCONT");
  }
  const closingSeconds = (performance.now() - startedMs) / 1_000;
  const stopwatch = startStopwatch(system);
  try {
    await untilDone(client, { text: IS_PLANNED }, WITHIN_MS, "payments are not planned in time");
  } finally {
    system.signal("platform", "SIGCONT");
  }
  const usage = stopwatch.read();
  const { rows } = await client.query<{ subscriptions: string; payments: string }>(
    `select (select count(*) from subscription.subscription where status = 'ACTIVE') as subscriptions,
            (select count(*) from fee.fee_payment where status <> 'SKIPPED') as payments`,
  );
  const [subscriptions, payments] = [Number(rows[0]?.subscriptions), Number(rows[0]?.payments)];
  return { subscriptions, payments, closingSeconds, seconds: usage.seconds, usage };
}

/** All closed weeks are decided, and fee has recorded what is due. */
const IS_PLANNED = `select not exists (select from subscription.open_week)
  and not exists (select from subscription.fee_decision where recorded_at is null) as is_done`;

/** The first payment after a service was resumed or killed. */
const PAYS_WITHIN_MS = 120_000;

/** Seconds from the kill to the next payment that fee records, or to the next leg that platform applies. */
export async function killAndResume(system: System, client: pg.Client, name: "fee" | "platform"): Promise<number> {
  await nextPayment(client);
  system.signal(name, "SIGKILL");
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
    text: "select count(*) as paid from fee.fee_payment where status = 'EXECUTED'",
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
