import type { Measurement, Workload } from "../bench.ts";
import { type Contestant, oneAtATime } from "../contest/contestant.ts";
import { serviceContestant } from "../contest/service.ts";
import { limitOf, medianCosts, totalOf, usageOf } from "../limit-of.ts";
import { PEERS, type PeerName } from "../peers/peers.ts";
import { startPeerPlatform } from "../peers/platform.ts";
import { startPeer } from "../peers/start-peer.ts";
import { number } from "../report/format.ts";
import { cellsOf } from "../report/measured.ts";
import { ratio, type Comparison, type Section, type Table, type Target } from "../section.ts";
import { ratiosOf } from "../statistics.ts";
import { createInvestors } from "../system/accounts.ts";

/** A peer refuses a second deposit to an account that is in progress, so there are more accounts than callers. */
const ACCOUNTS_PER_CALLER = 2;

const TARGETS: Readonly<Record<PeerName, Target>> = {
  "one process": { atLeast: 0.8 },
  NestJS: { atLeast: 2 },
  Moleculer: { atLeast: 2 },
};

export const peers: Workload = {
  name: "peers",
  title: "Deposits, compared to other designs",
  about: `The same durable work, the same rows and indexes in the same four commits, against the same simulator over TLS: Fastify and pg in one
process; NestJS 12 with Fastify, a gateway and a worker over NATS; Moleculer 0.15, a gateway and a worker over NATS. They check no API
key, write no audit, read no subscription, verify no deal later and have no recovery. Their source: \`test/bench/peers\`.`,

  async run(bench) {
    const system = await bench.system();
    const platform = bench.use(await startPeerPlatform(system.folder));
    const { investors, callers: all, rounds } = bench.options;
    const accounts = Math.max(investors, ACCOUNTS_PER_CALLER * (all.at(-1) ?? 0));
    const contestants = [bench.use(serviceContestant(system, await createInvestors(system.client, investors)))];
    for (const name of Object.keys(PEERS) as PeerName[]) {
      contestants.push(bench.use(await startPeer(name, { system, platform, accounts })));
    }
    const found: Found[] = [];
    for (let round = 0; round < rounds; round += 1) {
      for (const callers of all) {
        for (const contestant of contestants) {
          await oneAtATime(contestants, contestant);
          const of = await bench.measure(contestant, contestant.deposits, { kind: "closed", callers });
          bench.print(`${contestant.name} at ${callers}: ${number(of.rate)}/s, p50 ${number(of.p50)} ms`);
          found.push({ contestant, callers, of });
        }
      }
    }
    return sectionOf({ contestants, callers: all, found });
  },
};

type Found = { readonly contestant: Contestant; readonly callers: number; readonly of: Measurement };

type All = {
  readonly contestants: readonly Contestant[];
  readonly callers: readonly number[];
  readonly found: readonly Found[];
};

function sectionOf(all: All): Section {
  return { comparisons: comparisonsOf(all), tables: [ratesOf(all), costsOf(all)] };
}

function measured({ found }: All, contestant: Contestant, callers: number): Measurement[] {
  return found.filter((each) => each.contestant === contestant && each.callers === callers).map(({ of }) => of);
}

/** Ratios and costs are those of the most callers. */
function most({ callers }: All): number {
  return callers.at(-1) ?? 0;
}

function comparisonsOf(all: All): Comparison[] {
  const [service, ...others] = all.contestants;
  if (service === undefined) return [];
  const ratesAtMost = (contestant: Contestant): number[] =>
    measured(all, contestant, most(all)).map(({ rate }) => rate);
  return others.map((other) =>
    ratio(`deposits per second at ${most(all)}`, other.name, ratiosOf(ratesAtMost(service), ratesAtMost(other)), {
      target: TARGETS[other.name as PeerName],
      limit: limitOf(measured(all, service, most(all)).map(usageOf)),
    }),
  );
}

function ratesOf(all: All): Table {
  const rows = all.contestants.flatMap((contestant) =>
    all.callers.map((callers) => {
      const { rate, p50, p99, failures } = cellsOf(measured(all, contestant, callers));
      return [contestant.name, String(callers), rate, p50, p99, failures];
    }),
  );
  const columns = ["program", "at", "per second (min - max)", "p50 ms", "p99 ms", "failures by status"];
  return { title: "Rates and latencies", columns, rows };
}

function costsOf(all: All): Table {
  const shared = ["postgres", "nats", "simulator"];
  const rows = all.contestants.map((contestant) => {
    const parts = costsOfMost(all, contestant);
    const own = Object.fromEntries(Object.entries(parts).filter(([name]) => !shared.includes(name)));
    return [
      contestant.name,
      number(totalOf(parts)),
      number(totalOf(own)),
      ...shared.map((name) => number(parts[name] ?? 0)),
    ];
  });
  const columns = ["program", "all", "own processes", ...shared];
  return { title: `Processor milliseconds per deposit at ${most(all)}`, columns, rows };
}

function costsOfMost(all: All, contestant: Contestant) {
  return medianCosts(measured(all, contestant, most(all)).map(({ costs }) => costs));
}
