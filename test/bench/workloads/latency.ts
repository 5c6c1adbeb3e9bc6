import type { Client } from "../../journey/support/client.ts";
import type { Measurement, Workload } from "../bench.ts";
import { type Contestant, oneAtATime } from "../contest/contestant.ts";
import { serviceContestant } from "../contest/service.ts";
import type { Shape } from "../load/job.ts";
import { startPeerPlatform } from "../peers/platform.ts";
import { startPeer } from "../peers/start-peer.ts";
import { number, spread } from "../report/format.ts";
import type { Comparison, Section } from "../section.ts";
import { spreadOf } from "../statistics.ts";
import { createInvestors } from "../system/accounts.ts";

const PLATFORM_MS = 5;
/** Share of the service's own capacity. */
const LOAD = 0.3;
/** The largest number of calls that a delay of the simulator can last for. */
const MAX_TIMES = 1_000_000;
const MAX_MORE_MS = 3;

export const latency: Workload = {
  name: "latency",
  title: "Latency",
  about: `One deposit at a time on a platform without latency; and an open loop at 30 % of the service's capacity on a platform that takes 5 ms for
each call. The peer is Fastify and pg in one process, at the same load.`,

  async run(bench) {
    const system = await bench.system();
    const platform = bench.use(await startPeerPlatform(system.folder));
    const { investors, callers, rounds } = bench.options;
    const service = bench.use(serviceContestant(system, await createInvestors(system.client, investors)));
    const peer = bench.use(await startPeer("one process", { system, platform, accounts: investors }));
    const contestants = [service, peer];
    await oneAtATime(contestants, service);
    const capacity = await bench.measure(service, service.deposits, { kind: "closed", callers: callers.at(-1) ?? 1 });
    const perSecond = capacity.rate * LOAD;
    const kinds: Kind[] = [
      { name: "one at a time, platform 0 ms", shape: { kind: "closed", callers: 1 }, platformMs: 0 },
      {
        name: `open loop of ${number(perSecond)}/s, platform ${PLATFORM_MS} ms`,
        shape: { kind: "open", perSecond },
        platformMs: PLATFORM_MS,
      },
    ];
    const found: Found[] = [];
    for (let round = 0; round < rounds; round += 1) {
      for (const kind of kinds) {
        await Promise.all([system.client, platform].map(({ control }) => delayPlatform(control, kind.platformMs)));
        for (const contestant of contestants) {
          await oneAtATime(contestants, contestant);
          const of = await bench.measure(contestant, contestant.deposits, kind.shape);
          bench.print(`${kind.name}, ${contestant.name}: p50 ${number(of.p50)} ms, p99 ${number(of.p99)} ms`);
          found.push({ kind, contestant, of });
        }
      }
    }
    await Promise.all([system.client, platform].map(({ control }) => delayPlatform(control, 0)));
    return sectionOf(kinds, contestants, found);
  },
};

type Kind = { readonly name: string; readonly shape: Shape; readonly platformMs: number };
type Found = { readonly kind: Kind; readonly contestant: Contestant; readonly of: Measurement };

async function delayPlatform(control: Client["control"], ms: number): Promise<void> {
  await control("DELETE", "faults");
  if (ms === 0) return;
  await control("POST", "faults", { command: "*", effect: "delay", delay_ms: ms, times: MAX_TIMES });
}

function sectionOf(kinds: readonly Kind[], contestants: readonly Contestant[], found: readonly Found[]): Section {
  const of = (kind: Kind, contestant: Contestant | undefined): Measurement[] =>
    found.filter((each) => each.kind === kind && each.contestant === contestant).map((each) => each.of);
  const [service, peer] = contestants;
  const comparisons = kinds.flatMap((kind) =>
    (["p50", "p99"] as const).map((value): Comparison => {
      const references = of(kind, peer).map((each) => each[value]);
      const more = of(kind, service).map((each, index) => each[value] - (references[index] ?? 0));
      return {
        what: `${value} of a deposit, ${kind.name}`,
        comparedTo: "one process",
        value: spreadOf(more),
        unit: "ms more",
        pairs: more.length,
        target: { atMost: MAX_MORE_MS },
      };
    }),
  );
  const rows = kinds.flatMap((kind) =>
    contestants.map((contestant) => {
      const all = of(kind, contestant);
      return [
        kind.name,
        contestant.name,
        spread(spreadOf(all.map(({ p50 }) => p50))),
        spread(spreadOf(all.map(({ p99 }) => p99))),
      ];
    }),
  );
  const columns = ["load", "program", "p50 ms (min - max)", "p99 ms (min - max)"];
  return { comparisons, tables: [{ title: "", columns, rows }] };
}
