import type { Measurement, Workload } from "../bench.ts";
import { oneAtATime } from "../contest/contestant.ts";
import { serviceContestant } from "../contest/service.ts";
import { limitOf, medianCosts, usageOf } from "../limit-of.ts";
import type { RequestTemplate } from "../load/job.ts";
import { startReader } from "../peers/start-reader.ts";
import { number } from "../report/format.ts";
import { cellsOf } from "../report/measured.ts";
import { ratio, type Section } from "../section.ts";
import { ratiosOf } from "../statistics.ts";
import { createPools } from "../system/accounts.ts";

type Read = { readonly name: string; readonly service: string; readonly peer: string };

/** Paths without the login. */
const READS: readonly Read[] = [
  { name: "balance", service: "/api/v1/info/balance/", peer: "/balance/" },
  { name: "Investor", service: "/api/v1/info/investor/", peer: "/investor/" },
  { name: "subscriptions", service: "/api/v1/info/subscriptions?investor_login=", peer: "/subscriptions/" },
  { name: "fee configuration", service: "/api/v1/investor/:login/performance-fee", peer: "/fee/" },
];

export const reads: Workload = {
  name: "reads",
  title: "Reads",
  about: `Each read of a random Investor with a subscription, against Fastify and pg in one process on the same rows of the same database
(\`test/bench/peers/one-process/reads.ts\`). Both check the API key and answer the same JSON; a balance is read from the trading
platform by both, and both decrypt the passwords of an Investor and write the access audit before they return them. The service also
checks scopes and limits.`,

  async run(bench) {
    const system = await bench.system();
    const { investors, masters, rounds, callers: all } = bench.options;
    const callers = all.at(-1) ?? 1;
    const pools = await createPools(system.client, masters, investors);
    const logins = pools.flatMap((pool) => pool.investors);
    const contestants = [bench.use(serviceContestant(system, logins)), bench.use(await startReader(system))] as const;
    const [service, peer] = contestants;
    const found: { read: Read; of: Measurement; reference: Measurement }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      for (const read of READS) {
        const shape = { kind: "closed", callers } as const;
        await oneAtATime(contestants, service);
        const of = await bench.measure(service, requestsOf(read.service, logins), shape);
        await oneAtATime(contestants, peer);
        const reference = await bench.measure(peer, requestsOf(read.peer, logins), shape);
        bench.print(`${read.name}: ${number(of.rate)}/s, one process ${number(reference.rate)}/s`);
        found.push({ read, of, reference });
      }
    }
    await service.resume();
    return sectionOf(found, callers);
  },
};

function requestsOf(path: string, logins: readonly string[]): RequestTemplate[] {
  return logins.map((login) => ({
    method: "GET",
    path: path.includes(":login") ? path.replace(":login", login) : path + login,
    login: "",
    minor: 0,
  }));
}

type Found = { readonly read: Read; readonly of: Measurement; readonly reference: Measurement };

function sectionOf(found: readonly Found[], callers: number): Section {
  const groups = READS.map((read) => ({ read, all: found.filter((each) => each.read === read) }));
  const rowOf = (name: string, program: string, of: readonly Measurement[]): string[] => {
    const { rate, p50, p99, cost } = cellsOf(of);
    return [name, program, rate, p50, p99, cost];
  };
  return {
    comparisons: groups.map(({ read, all }) =>
      ratio(
        `reads per second at ${callers}: ${read.name}`,
        "one process",
        ratiosOf(
          all.map(({ of }) => of.rate),
          all.map(({ reference }) => reference.rate),
        ),
        { target: { atLeast: 0.7 }, limit: limitOf(all.map(({ of }) => usageOf(of))) },
      ),
    ),
    tables: [
      {
        title: `Reads at ${callers}`,
        columns: ["read", "program", "per second (min - max)", "p50 ms", "p99 ms", "processor ms each"],
        rows: groups.flatMap(({ read, all }) => [
          rowOf(
            read.name,
            "service",
            all.map(({ of }) => of),
          ),
          rowOf(
            read.name,
            "one process",
            all.map(({ reference }) => reference),
          ),
        ]),
      },
    ],
    operationCosts: Object.fromEntries(
      ["balance", "Investor"].map((name) => [
        `read of ${name === "balance" ? "a" : "an"} ${name}`,
        medianCosts(found.filter(({ read }) => read.name === name).map(({ of }) => of.costs)),
      ]),
    ),
  };
}
