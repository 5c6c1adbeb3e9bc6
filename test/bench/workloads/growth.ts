import { setTimeout as sleep } from "node:timers/promises";
import type { Measurement, Workload } from "../bench.ts";
import { depositsTo, serviceContestant } from "../contest/service.ts";
import { loginOf, type Range, type Step, unreservedOf } from "../large/sizes.ts";
import { limitOf, totalOf, usageOf } from "../limit-of.ts";
import type { RequestTemplate } from "../load/job.ts";
import { number, spread } from "../report/format.ts";
import { cellsOf } from "../report/measured.ts";
import { ratio, type Comparison, type Section } from "../section.ts";
import { median, spreadOf } from "../statistics.ts";

/** Investors, chosen from all at random, to whom money is deposited or who are read. */
const SAMPLE = 500;
const QUICK_SAMPLE = 40;
/** Before anything is measured: services learn of the new accounts, and the first deposit of each Investor is past. */
const SETTLE_MS = 5_000;
const MAX_ROUNDS = 2;
const FLAT = 1.2;

export const growth: Workload = {
  name: "growth",
  title: "Growth",
  about: `Processor time of a deposit without Master and of a read (Investor, subscriptions, fee configuration in turn) while Investors are added by SQL
to the tables of all services, and to the trading platform. The Investors are chosen at random from all of them.`,
  isLarge: true,

  async run(bench) {
    const large = await bench.large();
    const { system, steps } = large;
    const service = bench.use(serviceContestant(system, []));
    const callers = bench.options.callers.at(-1) ?? 1;
    const sample = bench.options.isQuick ? QUICK_SAMPLE : SAMPLE;
    const found: Found[] = [];
    for (const step of steps) {
      await large.load(step.number);
      await sleep(SETTLE_MS);
      const loaded = steps.slice(0, step.number);
      const deposits = depositsTo(sampleOf(unreservedOf(steps, loaded), sample));
      await bench.send(service, deposits, { kind: "once", callers }, { warmUpMs: 0, measureMs: 1 });
      const kinds = { deposit: deposits, read: readsOf(sampleOf(pooled(loaded), sample)) };
      for (let round = 0; round < Math.min(MAX_ROUNDS, bench.options.rounds); round += 1) {
        for (const kind of ["deposit", "read"] as const) {
          const of = await bench.measure(service, kinds[kind], { kind: "closed", callers });
          found.push({ investors: step.last, kind, of });
          bench.print(`${number(step.last)} Investors, ${kind}: ${number(costOf(of))} ms, ${number(of.rate)}/s`);
        }
      }
    }
    return sectionOf(found, callers);
  },
};

type Kind = "deposit" | "read";
type Found = { readonly investors: number; readonly kind: Kind; readonly of: Measurement };

function pooled(steps: readonly Step[]): Range[] {
  return steps.flatMap(({ pools }) => pools);
}

/** Logins of random Investors of the ranges, each once. */
function sampleOf(ranges: readonly Range[], count: number): string[] {
  const sizes = ranges.map(({ first, last }) => Math.max(0, last - first + 1));
  const all = sizes.reduce((sum, size) => sum + size, 0);
  const logins = new Set<string>();
  while (logins.size < Math.min(count, all)) {
    let index = Math.floor(Math.random() * all);
    const range = ranges.find((_, at) => {
      const size = sizes[at] ?? 0;
      if (index < size) return true;
      index -= size;
      return false;
    });
    if (range !== undefined) logins.add(loginOf("investor", range.first + index));
  }
  return [...logins];
}

function readsOf(logins: readonly string[]): RequestTemplate[] {
  const paths = [
    (login: string) => `/api/v1/info/investor/${login}`,
    (login: string) => `/api/v1/info/subscriptions?investor_login=${login}`,
    (login: string) => `/api/v1/investor/${login}/performance-fee`,
  ];
  return logins.map((login, index) => {
    const path = paths[index % paths.length]?.(login) ?? "";
    return { method: "GET", path, login: "", minor: 0 };
  });
}

function costOf({ costs }: Measurement): number {
  return totalOf(costs);
}

function sectionOf(found: readonly Found[], callers: number): Section {
  const sizes = [...new Set(found.map(({ investors }) => investors))];
  const at = (kind: Kind, investors: number | undefined): Measurement[] =>
    found.filter((each) => each.kind === kind && each.investors === investors).map(({ of }) => of);
  const comparisons = (["deposit", "read"] as const).map((kind): Comparison => {
    const first = median(at(kind, sizes[0]).map(costOf));
    const last = at(kind, sizes.at(-1));
    return ratio(
      `processor time of a ${kind} with ${size(sizes.at(-1))} Investors`,
      `with ${size(sizes[0])}`,
      last.map((each) => costOf(each) / first),
      { target: { atMost: FLAT }, limit: limitOf(last.map(usageOf)) },
    );
  });
  const rows = sizes.flatMap((investors) =>
    (["deposit", "read"] as const).map((kind) => {
      const of = at(kind, investors);
      return [
        size(investors),
        kind,
        spread(spreadOf(of.map(costOf))),
        cellsOf(of).rate,
        cellsOf(of).p50,
        number(median(of.map(({ costs }) => costs["postgres"] ?? 0))),
        number(median(of.map(({ costs }) => costs["platform"] ?? 0))),
      ];
    }),
  );
  const columns = ["Investors", "request", "processor ms each (min - max)", "per second (min - max)", "p50 ms"];
  return {
    comparisons,
    tables: [{ title: `At ${callers} callers`, columns: [...columns, "Postgres ms", "platform ms"], rows }],
  };
}

function size(investors: number | undefined): string {
  return (investors ?? 0).toLocaleString("en-US");
}
