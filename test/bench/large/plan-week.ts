import process from "node:process";
import type pg from "pg";
import type { Usage } from "../limit-of.ts";
import type { System } from "../system/start-system.ts";
import { startStopwatch } from "../system/stopwatch.ts";
import { until } from "../until.ts";

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
  const pids = system.processes();
  const signal = (service: string, name: NodeJS.Signals): void => void process.kill(pids.get(service) ?? 0, name);
  signal("fee", "SIGSTOP");
  const startedMs = performance.now();
  try {
    const { rows } = await client.query<{ end: Date }>(
      `update subscription.master_pool set weeks_closed_through = weeks_closed_through - interval '7 days'
       where weeks_closed_through is not null returning weeks_closed_through + interval '7 days' as end`,
    );
    await untilTrue(
      client,
      "select not exists (select from subscription.master_pool where weeks_closed_through < $1) as is_done",
      [rows[0]?.end],
    );
  } finally {
    signal("platform", "SIGSTOP");
    signal("fee", "SIGCONT");
  }
  const closingSeconds = (performance.now() - startedMs) / 1_000;
  const stopwatch = startStopwatch(system);
  try {
    await untilTrue(client, IS_PLANNED);
  } finally {
    signal("platform", "SIGCONT");
  }
  const usage = stopwatch.read();
  const { rows } = await client.query<{ subscriptions: string; payments: string }>(
    `select (select count(*) from subscription.subscription where status = 'ACTIVE') as subscriptions,
            (select coalesce(sum(open_count + executed_count + failed_count), 0) from fee.fee_run) as payments`,
  );
  const [subscriptions, payments] = [Number(rows[0]?.subscriptions), Number(rows[0]?.payments)];
  return { subscriptions, payments, closingSeconds, seconds: usage.seconds, usage };
}

/** All closed weeks are decided, and fee has recorded what is due. */
const IS_PLANNED = `select not exists (select from subscription.open_week)
  and not exists (select from subscription.fee_decision where recorded_at is null) as is_done`;

async function untilTrue(client: pg.Client, text: string, values: readonly unknown[] = []): Promise<void> {
  const isDone = async (): Promise<boolean> => {
    const { rows } = await client.query<{ is_done: boolean }>({ text, values: [...values] });
    return rows[0]?.is_done === true;
  };
  await until(isDone, WITHIN_MS, `not done in time: ${text}`);
}
