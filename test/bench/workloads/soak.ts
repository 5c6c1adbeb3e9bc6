import { setTimeout as sleep } from "node:timers/promises";
import type { Workload } from "../bench.ts";
import { depositsTo, serviceContestant } from "../contest/service.ts";
import { residentBytes } from "../processor-time.ts";
import { number } from "../report/format.ts";
import { figure, type Section } from "../section.ts";
import { percentile, slope } from "../statistics.ts";
import { createPools, expectMirrored } from "../system/accounts.ts";
import type { System } from "../system/start-system.ts";

/** Share of the capacity that is offered: so much that a leak shows, and so little that no queue grows. */
const LOAD = 0.5;
const SAMPLES = 120;
const MEBIBYTE = 1024 ** 2;
/** Memory grows at first by itself: compiled code, caches, pools. The slope is that of the time after this share. */
const SETTLED_SHARE = 0.5;
const MAX_MEBIBYTES = 200;
const SLOW_MS = 1_000;

export const soak: Workload = {
  name: "soak",
  title: "Memory under a long load",
  about: `Deposits with mirror in an open loop at half of the capacity. Memory is what the system holds resident for a process; the slope is that of
the second half.`,

  async run(bench) {
    const system = await bench.system();
    const { investors, masters, callers, soakMinutes } = bench.options;
    const pools = await createPools(system.client, masters, investors);
    const logins = pools.flatMap((pool) => pool.investors);
    const service = bench.use(serviceContestant(system, logins));
    const capacity = await bench.measure(service, depositsTo(logins), {
      kind: "closed",
      callers: callers.at(-1) ?? 1,
    });
    const measureMs = soakMinutes * 60_000;
    const perSecond = capacity.rate * LOAD;
    bench.print(`${number(perSecond)}/s for ${number(soakMinutes)} minutes`);
    const load = bench.measure(service, depositsTo(logins), { kind: "open", perSecond }, { measureMs });
    const samples = await sampleMemory(system, measureMs);
    const { outcomes, failures } = await load;
    await Promise.all(pools.map((pool) => expectMirrored(system.client, pool)));
    const latencies = outcomes.map(({ latencyMs }) => latencyMs);
    return sectionOf(samples, {
      offered: `${number(perSecond)} per second for ${number(soakMinutes)} minutes`,
      failures: JSON.stringify(failures),
      p99: percentile(latencies, 99),
      slowPercent: (100 * latencies.filter((each) => each > SLOW_MS).length) / latencies.length,
    });
  },
};

type Sample = { readonly minutes: number; readonly mebibytes: ReadonlyMap<string, number> };

async function sampleMemory(system: System, ms: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  const startedMs = performance.now();
  // Postgres is many processes that share memory, so the sum of theirs says nothing.
  const pids = [...system.processes()].filter(([name]) => name !== "postgres");
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    await sleep(ms / SAMPLES);
    const mebibytes = new Map(pids.map(([name, pid]) => [name, residentBytes(pid) / MEBIBYTE]));
    samples.push({ minutes: (performance.now() - startedMs) / 60_000, mebibytes });
  }
  return samples;
}

type Served = {
  readonly offered: string;
  readonly failures: string;
  readonly p99: number;
  readonly slowPercent: number;
};

function sectionOf(samples: readonly Sample[], served: Served): Section {
  const names = [...(samples[0]?.mebibytes.keys() ?? [])];
  const memories = names.map((name) => {
    const points = samples.map(({ minutes, mebibytes }) => ({ x: minutes, y: mebibytes.get(name) ?? 0 }));
    const settled = points.slice(Math.floor(points.length * SETTLED_SHARE));
    return { name, points, most: Math.max(...points.map(({ y }) => y)), perHour: slope(settled) * 60 };
  });
  const services = memories.filter(({ name }) => !["simulator", "nats"].includes(name));
  return {
    comparisons: [
      figure("largest memory of a service under load", "MiB", [Math.max(...services.map(({ most }) => most))], {
        atMost: MAX_MEBIBYTES,
      }),
    ],
    tables: [
      {
        title: `${served.offered}: p99 ${number(served.p99)} ms, ${number(served.slowPercent)} % above 1 s, failures ${served.failures}`,
        columns: ["process", "largest MiB", "last MiB", "slope MiB per hour"],
        rows: memories.map(({ name, points, most, perHour }) => [
          name,
          number(most),
          number(points.at(-1)?.y ?? 0),
          number(perHour),
        ]),
      },
    ],
  };
}
