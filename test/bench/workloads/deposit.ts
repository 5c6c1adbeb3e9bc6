import type { Bench, Measurement, Workload } from "../bench.ts";
import { type Contestant } from "../contest/contestant.ts";
import { depositsTo, serviceContestant } from "../contest/service.ts";
import { medianCosts, totalOf } from "../limit-of.ts";
import type { RequestTemplate } from "../load/job.ts";
import { number } from "../report/format.ts";
import { cellsOf } from "../report/measured.ts";
import type { Section, Table } from "../section.ts";
import { median } from "../statistics.ts";
import { createInvestors, createPools, expectMirrored } from "../system/accounts.ts";

export const deposit: Workload = {
  name: "deposit",
  title: "Deposits",
  about:
    "`POST /api/v1/investor/deposit` until the durable 200: without a Master, and for Investors in the pools of Masters, whose capital is mirrored afterwards.",

  async run(bench) {
    const system = await bench.system();
    const { investors, masters, rounds, callers: all } = bench.options;
    const alone = await createInvestors(system.client, investors);
    const pools = await createPools(system.client, masters, investors);
    const pooled = pools.flatMap((pool) => pool.investors);
    const service = bench.use(serviceContestant(system, [...alone, ...pooled]));
    const kinds = [
      { name: "without Master", requests: depositsTo(alone) },
      { name: "with mirror", requests: depositsTo(pooled) },
    ];
    const found: Found[] = [];
    for (let round = 0; round < rounds; round += 1) {
      for (const callers of all) {
        for (const { name, requests } of kinds) {
          found.push({ kind: name, callers, of: await measureOnce(bench, service, requests, callers) });
          await Promise.all(pools.map((pool) => expectMirrored(system.client, pool)));
        }
      }
    }
    return sectionOf(found);
  },
};

type Found = { readonly kind: string; readonly callers: number; readonly of: Measurement };

async function measureOnce(
  bench: Bench,
  service: Contestant,
  requests: readonly RequestTemplate[],
  callers: number,
): Promise<Measurement> {
  const measured = await bench.measure(service, requests, { kind: "closed", callers });
  bench.print(`${callers} callers: ${number(measured.rate)}/s, p50 ${number(measured.p50)} ms`);
  return measured;
}

function sectionOf(found: readonly Found[]): Section {
  const groups = [...Map.groupBy(found, ({ kind, callers }) => `${kind}|${callers}`).values()];
  const most = Math.max(...found.map(({ callers }) => callers));
  const operationCosts = Object.fromEntries(
    groups
      .filter((group) => group[0]?.callers === most)
      .map((group) => [`deposit ${group[0]?.kind}`, medianCosts(group.map(({ of }) => of.costs))]),
  );
  return { comparisons: [], tables: [ratesOf(groups), costsOf(groups)], operationCosts };
}

function ratesOf(groups: readonly (readonly Found[])[]): Table {
  const columns = ["deposits", "at", "per second (min - max)", "p50 ms", "p99 ms", "failures"];
  const rows = groups.map((group) => {
    const { rate, p50, p99, failures } = cellsOf(group.map(({ of }) => of));
    return [group[0]?.kind ?? "", String(group[0]?.callers), rate, p50, p99, failures];
  });
  return { title: "Rates and latencies", columns, rows };
}

function costsOf(groups: readonly (readonly Found[])[]): Table {
  const processes = Object.keys(groups[0]?.[0]?.of.costs ?? {});
  const rows = groups.map((group) => {
    const costs = processes.map((name) => costOf(group, name));
    return [
      group[0]?.kind ?? "",
      String(group[0]?.callers),
      number(totalOf(medianCosts(group.map(({ of }) => of.costs)))),
      ...costs.map(number),
      number(median(group.map(({ of }) => of.ownCost))),
    ];
  });
  return {
    title: "Processor milliseconds per deposit, by process",
    columns: ["deposits", "at", "all", ...processes, "(generator)"],
    rows,
  };
}

function costOf(group: readonly Found[], process: string): number {
  return median(group.map(({ of }) => of.costs[process] ?? 0));
}
