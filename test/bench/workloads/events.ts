import { setTimeout as sleep } from "node:timers/promises";
import type { Measurement, Workload } from "../bench.ts";
import { depositsTo, serviceContestant } from "../contest/service.ts";
import { medianCosts } from "../limit-of.ts";
import { number } from "../report/format.ts";
import type { Comparison, Table } from "../section.ts";
import { ratioOfPairs } from "../statistics.ts";
import { createInvestors, createPools, expectMirrored } from "../system/accounts.ts";
import { type Database, openDatabase } from "../system/database.ts";
import type { System } from "../system/start-system.ts";

/** The edge reads the states of a service as often without a caller: what is noted before is numbered then. */
const NUMBERED_MS = 21_000;
const MODES = ["off", "on", "read"] as const;
type Mode = (typeof MODES)[number];

export const events: Workload = {
  name: "events",
  title: "Events",
  about:
    "What events cost a deposit: the triggers that note states are disabled (off), enabled (on), and enabled while a caller reads the events as they come (read), one after the other on one system. Costs have everything until the events are numbered.",

  async run(bench) {
    const system = await bench.system();
    const { investors, masters, rounds, callers: all } = bench.options;
    const callers = all.at(-1) ?? 1;
    const alone = await createInvestors(system.client, investors);
    const pools = await createPools(system.client, masters, investors);
    const pooled = pools.flatMap((pool) => pool.investors);
    const service = bench.use(serviceContestant(system, [...alone, ...pooled]));
    const database = bench.use(await openDatabase(system));
    const kinds = [
      { name: "without Master", requests: depositsTo(alone) },
      { name: "with mirror", requests: depositsTo(pooled) },
    ];
    const comparisons: Comparison[] = [];
    const tables: Table[] = [];
    for (const { name, requests } of kinds) {
      const found: Record<Mode, Measurement[]> = { off: [], on: [], read: [] };
      for (let round = 0; round < rounds; round += 1) {
        for (const mode of round % 2 === 0 ? MODES : MODES.toReversed()) {
          await setTriggers(database, mode === "off" ? "disable" : "enable");
          await sleep(bench.options.isQuick ? 0 : NUMBERED_MS);
          const reading = mode === "read" ? startReading(system) : undefined;
          const measured = await bench.measure(service, requests, { kind: "closed", callers });
          await reading?.end();
          found[mode].push(measured);
          bench.print(`${name}, ${mode}: ${number(totalOf(measured))} ms, ${number(measured.rate)}/s`);
          await Promise.all(pools.map((pool) => expectMirrored(system.client, pool)));
        }
      }
      comparisons.push(...["on", "read"].map((mode) => comparisonOf(name, mode as Mode, found)));
      tables.push(costsOf(name, found));
    }
    await setTriggers(database, "enable");
    return { comparisons, tables, charts: [] };
  },
};

/** Those of the states only; other triggers guard the rows. */
async function setTriggers({ client }: Database, action: "enable" | "disable"): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `select format('alter table %s ${action} trigger %I', tgrelid::regclass, tgname) as statement
     from pg_trigger where tgname like 'note\\_%' order by 1`,
  );
  for (const { statement } of rows) await client.query(statement);
}

/** A caller that waits for events, and takes them in pages. */
function startReading({ client }: System): { readonly end: () => Promise<void> } {
  let isOver = false;
  const reading = (async () => {
    for (let after = "0"; !isOver;) {
      const { body } = await client.get(`/api/v1/events?after=${after}&limit=500&wait=1`);
      const next = body["next_cursor"];
      if (typeof next === "string") after = next;
    }
  })();
  return {
    async end() {
      isOver = true;
      await reading;
    },
  };
}

function totalOf({ costs }: Measurement): number {
  return Object.values(costs).reduce((sum, cost) => sum + cost, 0);
}

function comparisonOf(kind: string, mode: Mode, found: Readonly<Record<Mode, readonly Measurement[]>>): Comparison {
  return {
    what: `processor time of a deposit ${kind}, ${mode === "on" ? "with events" : "with events that are read"}`,
    comparedTo: "without the triggers",
    value: ratioOfPairs(found[mode].map(totalOf), found.off.map(totalOf)),
    unit: "times",
    pairs: found.off.length,
    target: { atMost: 1.05 },
  };
}

function costsOf(kind: string, found: Readonly<Record<Mode, readonly Measurement[]>>): Table {
  const costs = MODES.map((mode) => medianCosts(found[mode].map((measured) => measured.costs)));
  const names = Object.keys(costs[0] ?? {});
  return {
    title: `Processor milliseconds of a deposit ${kind}, by process`,
    columns: ["process", ...MODES],
    rows: names.map((name) => [name, ...costs.map((each) => number(each[name] ?? 0))]),
  };
}
