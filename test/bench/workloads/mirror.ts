import type pg from "pg";
import { isObject, textOf } from "../../../deploy/demo/exact-json.ts";
import type { Client } from "../../journey/support/client.ts";
import type { Bench, Workload } from "../bench.ts";
import { requireNoBreaks } from "../checks/breaks.ts";
import { requirePoolsAtRest } from "../checks/pools.ts";
import { depositMany } from "../large/deposit-many.ts";
import { type LargePool, loginOf } from "../large/sizes.ts";
import { consumeAlone } from "../limit/consume.ts";
import { costsOf, limitOf, type Usage } from "../limit-of.ts";
import { number } from "../report/format.ts";
import { figure, ratio, type Section } from "../section.ts";
import { openDatabase } from "../system/database.ts";
import { environmentOf } from "../system/environment.ts";
import type { System } from "../system/start-system.ts";
import { startStopwatch } from "../system/stopwatch.ts";
import { untilDone } from "../until.ts";

const WITHIN_MS = 900_000;
const RESTS_WITHIN_MS = 60_000;

export const mirror: Workload = {
  name: "mirror",
  title: "Backlog of mirrors",
  about: `The subscription service is stopped (SIGSTOP) while money is deposited to Investors of 1,000 Masters, then continued: until every deposit
was read from the feed and is on its Master. Compared to a Node process that receives and acknowledges as many messages from
JetStream and does nothing with them. Calls are those that the trading platform counted meanwhile.`,
  isLarge: true,

  async run(bench) {
    const large = await bench.large();
    const { system } = large;
    await large.load();
    await using database = await openDatabase(system);
    const pools = large.pools("small");
    const { NATS_URL = "", NATS_CA_FILE: caFile } = environmentOf(system, "subscription");
    // A service may not create streams of other names.
    const broker = { host: new URL(NATS_URL).host, password: system.brokerPassword, caFile };
    const { flows } = bench.options;
    const alone = await consumeAlone(broker, flows);
    const mirrored = await mirrorBacklog(bench, { system, database: database.client, pools, flows });
    bench.print(`${number(mirrored.rate)} flows/s, raw consume ${number(alone)}/s`);
    const masters = pools.map(({ master }) => loginOf("master", master));
    await requirePoolsAtRest(system, database.client, masters, RESTS_WITHIN_MS);
    await requireNoBreaks(database.client);
    return sectionOf(mirrored, alone, flows);
  },
};

type Backlog = {
  readonly system: System;
  readonly database: pg.Client;
  readonly pools: readonly LargePool[];
  readonly flows: number;
};

type Mirrored = {
  /** Flows per second. */
  readonly rate: number;
  /** Calls to the trading platform, by their name. */
  readonly calls: ReadonlyMap<string, number>;
  readonly usage: Usage;
};

async function mirrorBacklog(bench: Bench, { system, database, pools, flows }: Backlog): Promise<Mirrored> {
  await system.whileStopped("subscription", async () => {
    const startedMs = performance.now();
    await depositMany(system, { pools, count: flows });
    bench.print(`${flows} deposits in ${number((performance.now() - startedMs) / 1_000)} s`);
  });
  const callsBefore = await countCalls(system.client);
  const stopwatch = startStopwatch(system);
  await untilMirrored(database);
  const usage = stopwatch.read();
  const callsAfter = await countCalls(system.client);
  const calls = new Map([...callsAfter].map(([name, count]) => [name, count - (callsBefore.get(name) ?? 0)]));
  return { rate: flows / usage.seconds, calls, usage };
}

/** Every movement that platform has published was received, and no capital is on its way. */
async function untilMirrored(database: pg.Client): Promise<void> {
  const text = `select (select number from subscription.feed_cursor where feed = 'platform.movements')
                         = (select last_number from platform.feed_head where feed = 'platform.movements')
                       and not exists (select from subscription.flow where mirror_id is null)
                       and not exists (select from subscription.mirror where state = 'OPEN') as is_done`;
  await untilDone(database, { name: "is-mirrored", text }, WITHIN_MS, "capital is not on its Master in time");
}

async function countCalls({ control }: Pick<Client, "control">): Promise<Map<string, number>> {
  const stats = await control("GET", "stats");
  const calls = isObject(stats) ? stats["calls"] : undefined;
  if (!isObject(calls)) throw new Error("the simulator shows no calls");
  return new Map(Object.keys(calls).map((name) => [name, Number(textOf(calls, name))]));
}

function sectionOf({ rate, calls, usage }: Mirrored, alone: number, flows: number): Section {
  const callCount = [...calls.values()].reduce((sum, count) => sum + count, 0);
  const byName = [...calls].filter(([, count]) => count > 0).toSorted(([, one], [, other]) => other - one);
  return {
    comparisons: [
      ratio(
        `mirrored movements per second, backlog of ${flows.toLocaleString("en-US")}`,
        "raw JetStream consume",
        [rate / alone],
        { target: { atLeast: 0.3 }, limit: limitOf([usage]) },
      ),
      figure("calls to the trading platform per movement", "calls", [callCount / flows], { atMost: 0.05 }),
    ],
    tables: [
      {
        title: `Backlog of ${flows.toLocaleString("en-US")} movements`,
        columns: ["what", "figure"],
        rows: [
          ["mirrored", `${number(rate)} per second`],
          ["raw consume", `${number(alone)} per second`],
          ...byName.map(([name, count]) => [`calls ${name}`, count.toLocaleString("en-US")]),
        ],
      },
    ],
    operationCosts: { "movement of a backlog": costsOf(usage, flows) },
  };
}
