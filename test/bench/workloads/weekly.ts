import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { type Bench, NotMeasured, type Workload } from "../bench.ts";
import { requireFeesPaid } from "../checks/fees.ts";
import { serviceContestant } from "../contest/service.ts";
import { countLegs, databaseNow, killAndResume, nextPayment, type PlannedWeek, planWeek } from "../large/week.ts";
import { costsOf, limitOf, medianCosts, type Usage } from "../limit-of.ts";
import { createPayments, payAlone, requireWholePayments } from "../limit/payments.ts";
import { findPgbench } from "../limit/pgbench.ts";
import { insertPlanAlone } from "../limit/plan.ts";
import { number, spread } from "../report/format.ts";
import { figure, ratio, type Section } from "../section.ts";
import { median, ratiosOf, spreadOf } from "../statistics.ts";
import { openDatabase } from "../system/database.ts";
import type { System } from "../system/start-system.ts";
import { startStopwatch } from "../system/stopwatch.ts";

const PLANS_ALONE = 2;
/** Payments are measured for this long in each round, after as long again without a figure. */
const MEASURE_MS = 10_000;
const QUICK_MEASURE_MS = 4_000;
const MAX_ROUNDS = 3;

export const weekly: Workload = {
  name: "weekly",
  title: "Weekly fees",
  about: `The fee week of all Masters ends: subscription closes it, then fee plans a payment for each of the Investors with a profit while platform
is stopped, then the payments are made. The plan is compared to Postgres that inserts the same rows again, one statement for each
table; payments to pgbench with sets of 64 (\`test/bench/limit/payments.sql\`). Then fee and platform are killed (SIGKILL): until the next
payment is recorded. The run is not awaited to its end: what was paid until then is compared in the books of fee, in the logs and on the
trading platform.`,
  isLarge: true,

  async run(bench) {
    const program = findPgbench();
    if (program === undefined) throw new NotMeasured("pgbench was not found: install postgresql, or set POSTGRES_BIN");
    const large = await bench.large();
    const { system } = large;
    await large.load();
    await using database = await openDatabase(system);
    const { client } = database;
    const runs = await lastRun(client);
    const plan = await planWeek(system, client);
    const plansAlone: number[] = [];
    for (let round = 0; round < PLANS_ALONE; round += 1) plansAlone.push(await insertPlanAlone(client, runs));
    bench.print(
      `${plan.payments} payments planned in ${number(plan.seconds)} s, alone ${number(median(plansAlone))} s`,
    );
    const paid = await pay(bench, { system, client, program });
    const resumed = [];
    for (const name of ["fee", "platform"] as const) {
      const seconds = await killAndResume(system, client, name);
      bench.print(`${name} killed, next payment after ${number(seconds)} s`);
      resumed.push({ name, seconds });
    }
    await requireFeesPaid(system, client, runs);
    return sectionOf({ plan, plansAlone, paid, resumed });
  },
};

async function lastRun(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ id: string }>("select coalesce(max(id), 0)::text as id from fee.fee_run");
  return rows[0]?.id ?? "0";
}

type Context = { readonly system: System; readonly client: pg.Client; readonly program: string };
type Round = { readonly legs: number; readonly alone: number; readonly usage: Usage };

/** The service and pgbench in turns, the other one stopped. */
async function pay(bench: Bench, { system, client, program }: Context): Promise<Round[]> {
  const { isQuick, rounds } = bench.options;
  const measureMs = isQuick ? QUICK_MEASURE_MS : MEASURE_MS;
  const service = serviceContestant(system, []);
  await using books = await createPayments(system.postgresUrl, isQuick);
  const found: Round[] = [];
  for (let round = 0; round < Math.min(MAX_ROUNDS, rounds); round += 1) {
    await service.resume();
    await nextPayment(client);
    await sleep(measureMs);
    const from = await databaseNow(client);
    const stopwatch = startStopwatch(system);
    await sleep(measureMs);
    const usage = stopwatch.read();
    const legs = (await countLegs(client, from)) / usage.seconds;
    service.pause();
    const alone = await payAlone(program, books, measureMs / 1_000);
    bench.print(`${number(legs)} legs/s, pgbench ${number(alone)}/s`);
    found.push({ legs, alone, usage });
  }
  await service.resume();
  await requireWholePayments(books);
  return found;
}

type Found = {
  readonly plan: PlannedWeek;
  readonly plansAlone: readonly number[];
  readonly paid: readonly Round[];
  readonly resumed: readonly { readonly name: string; readonly seconds: number }[];
};

function sectionOf({ plan, plansAlone, paid, resumed }: Found): Section {
  const who = `${plan.subscriptions.toLocaleString("en-US")} subscriptions`;
  const legs = paid.map((round) => round.legs);
  const alone = paid.map((round) => round.alone);
  const limit = limitOf(paid.map(({ usage }) => usage));
  return {
    comparisons: [
      ratio(
        `plan of ${who}`,
        "insert of the same rows",
        plansAlone.map((each) => plan.seconds / each),
        { target: { atMost: 2 }, limit: limitOf([plan.usage]) },
      ),
      { ...figure("fee legs per second", "per second", legs, { atLeast: 2_000 }), limit },
      ratio("fee legs per second", "pgbench in sets of 64", ratiosOf(legs, alone)),
      ...resumed.map(({ name, seconds }) =>
        figure(`next payment after ${name} is killed`, "s", [seconds], { atMost: 5 }),
      ),
    ],
    tables: [
      {
        title: `Week of ${who}, ${plan.payments.toLocaleString("en-US")} payments`,
        columns: ["what", "median (min - max)"],
        rows: [
          ["closed by subscription", `${number(plan.closingSeconds)} s`],
          ["planned by fee", `${number(plan.seconds)} s`],
          ["insert of the same rows", `${spread(spreadOf(plansAlone))} s`],
          ["legs, service", `${spread(spreadOf(legs))} per second`],
          ["legs, pgbench", `${spread(spreadOf(alone))} per second`],
        ],
      },
    ],
    operationCosts: {
      "plan of a subscription": costsOf(plan.usage, plan.subscriptions),
      "fee leg": medianCosts(paid.map(({ usage, legs: perSecond }) => costsOf(usage, perSecond * usage.seconds))),
    },
  };
}
