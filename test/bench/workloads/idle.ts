import { setTimeout as sleep } from "node:timers/promises";
import type { Workload } from "../bench.ts";
import { totalOf } from "../limit-of.ts";
import { processorSeconds } from "../processor-time.ts";
import { number } from "../report/format.ts";
import { figure } from "../section.ts";
import { createPools } from "../system/accounts.ts";
import { countStatements } from "../system/statements.ts";

const MEASURE_MS = 60_000;
const QUICK_MS = 3_000;
/** The work of the preparation ends: deliveries, postings, the first looks at new deals. */
const SETTLE_MS = 75_000;

export const idle: Workload = {
  name: "idle",
  title: "Idle",
  about: `Nothing is requested; Investors are subscribed to Masters. Statements are counted by the log of Postgres, after the processor time.`,

  async run(bench) {
    const system = await bench.system();
    const { investors, masters, isQuick } = bench.options;
    await createPools(system.client, masters, investors);
    await sleep(isQuick ? QUICK_MS : SETTLE_MS);
    const ms = isQuick ? QUICK_MS : MEASURE_MS;
    const pids = [...system.processes()];
    const before = pids.map(([, pid]) => processorSeconds(pid));
    await sleep(ms);
    const shares = pids.map(
      ([name, pid], index) => [name, (100_000 * (processorSeconds(pid) - (before[index] ?? 0))) / ms] as const,
    );
    const perSecond = await countStatements(system, ms);
    const all = totalOf(perSecond);
    bench.print(`${number(all)} statements/s`);
    const services = shares.filter(([name]) => !["postgres", "simulator", "nats"].includes(name));
    return {
      comparisons: [
        figure("statements in all, idle", "per second", [all], { atMost: 10 }),
        figure("largest share of a service, idle", "% of a core", [Math.max(...services.map(([, share]) => share))], {
          atMost: 1,
        }),
      ],
      tables: [
        {
          title: `Processor time over ${ms / 1_000} s, with ${investors} Investors and ${masters} Masters`,
          columns: ["process", "% of a core"],
          rows: shares.map(([name, share]) => [name, number(share)]),
        },
        {
          title: "Statements, begin and commit included",
          columns: ["program", "per second"],
          rows: Object.entries(perSecond)
            .toSorted(([, one], [, other]) => other - one)
            .map(([name, count]) => [name, number(count)]),
        },
      ],
    };
  },
};
