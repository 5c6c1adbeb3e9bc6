import { setTimeout as sleep } from "node:timers/promises";
import type { Workload } from "../bench.ts";
import { depositsTo, serviceContestant } from "../contest/service.ts";
import { processorSeconds } from "../processor-time.ts";
import { number } from "../report/format.ts";
import { ratio, type Section } from "../section.ts";
import { createPools, expectMirrored } from "../system/accounts.ts";
import { openDatabase } from "../system/database.ts";
import { startSystem, type System } from "../system/start-system.ts";

/** Share of the capacity that is offered, as in the soak. */
const LOAD = 0.5;
/** Each period: several runs of each check. */
const PERIOD_MS = 5 * 60_000;
const QUICK_PERIOD_MS = 8_000;
/** The work of the load ends: deliveries, and the first look at its deals. */
const SETTLE_MS = 75_000;
const QUICK_SETTLE_MS = 3_000;
const QUICK_SETTINGS = { PAMM_CHECK_INTERVAL: "PT2S" };
const CHECKED_SERVICES = ["platform", "subscription", "funding", "fee"];

export const checks: Workload = {
  name: "checks",
  title: "Cost of the checks",
  about: `Deposits with mirror in an open loop at half of the capacity, while no check runs; then the checks at their usual intervals, for as long as the
load, over what it has left and the slices of all other rows. Compared is the processor time of the services and of Postgres; that of
an equally long rest without checks is subtracted from the checks.`,

  async run(bench) {
    const { isQuick, investors, masters, callers } = bench.options;
    const periodMs = isQuick ? QUICK_PERIOD_MS : PERIOD_MS;
    await using system = await startSystem(isQuick ? QUICK_SETTINGS : {});
    const pools = await createPools(system.client, masters, investors);
    const logins = pools.flatMap((pool) => pool.investors);
    const service = serviceContestant(system, logins);
    const closed = { kind: "closed", callers: callers.at(-1) ?? 1 } as const;
    const { rate } = await bench.measure(service, depositsTo(logins), closed);
    // The checks read what that has left before the load begins.
    await sleep(isQuick ? QUICK_SETTLE_MS : 2 * SETTLE_MS);
    await stopChecks(system);
    const perSecond = rate * LOAD;
    let answered = 0;
    const load = await usedDuring(system, async () => {
      const open = { kind: "open", perSecond } as const;
      const sent = await bench.send(service, depositsTo(logins), open, { warmUpMs: 0, measureMs: periodMs });
      answered = sent.answered;
      await Promise.all(pools.map((pool) => expectMirrored(system.client, pool)));
    });
    await sleep(isQuick ? QUICK_SETTLE_MS : SETTLE_MS);
    const without = await usedDuring(system, () => sleep(periodMs));
    await startChecks(system);
    const withChecks = await usedDuring(system, () => sleep(periodMs));
    // Its books cannot be read once it has stopped.
    await bench.verify();
    return sectionOf({ load, without, withChecks }, { answered, periodMs });
  },
};

type Used = ReadonlyMap<string, number>;

/** Another holder has the leases, which no process can take before they expire. */
async function stopChecks(system: System): Promise<void> {
  await setLeases(system, "holder = 'bench', fence = fence + 1, expires_at = 'infinity'");
}

async function startChecks(system: System): Promise<void> {
  await setLeases(system, "expires_at = '-infinity'");
}

async function setLeases(system: System, change: string): Promise<void> {
  await using database = await openDatabase(system);
  for (const schema of CHECKED_SERVICES) {
    const { rowCount } = await database.client.query(`update ${schema}.lease set ${change} where name = 'reconcile'`);
    if (rowCount !== 1) throw new Error(`${schema} has no lease for its checks`);
  }
}

/** Processor seconds by process, without the trading platform. */
async function usedDuring(system: System, work: () => Promise<unknown>): Promise<Used> {
  const pids = [...system.processes()].filter(([name]) => name !== "simulator");
  const before = new Map(pids.map(([name, pid]) => [name, processorSeconds(pid)]));
  await work();
  return new Map(pids.map(([name, pid]) => [name, processorSeconds(pid) - (before.get(name) ?? 0)]));
}

type Periods = { readonly load: Used; readonly without: Used; readonly withChecks: Used };

function sectionOf(
  { load, without, withChecks }: Periods,
  { answered, periodMs }: { readonly answered: number; readonly periodMs: number },
): Section {
  const all = (used: Used): number => Array.from(used.values()).reduce((sum, seconds) => sum + seconds, 0);
  const row = (name: string, read: (used: Used) => number): string[] => {
    const [loaded, rested, checked] = [read(load), read(without), read(withChecks)];
    return [name, number(loaded), number(rested), number(checked), number((100 * (checked - rested)) / loaded)];
  };
  return {
    comparisons: [
      ratio(
        "processor time of all checks",
        "the deposits with mirror that they check",
        [(all(withChecks) - all(without)) / all(load)],
        { target: { atMost: 0.02 } },
      ),
    ],
    tables: [
      {
        title: `Processor seconds of ${answered} deposits, and of rests of ${number(periodMs / 1_000)} s`,
        columns: ["process", "deposits", "rest without checks", "rest with checks", "checks, % of the deposits"],
        rows: [...Array.from(load.keys(), (name) => row(name, (used) => used.get(name) ?? 0)), row("all", all)],
      },
    ],
  };
}
