import { join } from "node:path";
import { NotMeasured, Violated, type Workload } from "../bench.ts";
import { serviceContestant } from "../contest/service.ts";
import { findPgbench, runPgbench } from "../limit/pgbench.ts";
import { limitOf, type Usage, usageOf } from "../limit-of.ts";
import { type BooksDatabase, createBooks } from "../peers/books.ts";
import { number, spread } from "../report/format.ts";
import { processorSeconds } from "../processor-time.ts";
import { ratio } from "../section.ts";
import { ratiosOf, spreadOf } from "../statistics.ts";
import { createInvestors } from "../system/accounts.ts";

const CLIENTS = [1, 8, 16, 32];
/** The script chooses among these for each client. */
const ACCOUNTS_PER_CLIENT = 100;
const FIRST_LOGIN = 3_000_001;
const SCRIPT = join(import.meta.dirname, "../limit/deposit.sql");

export const limit: Workload = {
  name: "limit",
  title: "Deposits, compared to the database alone",
  about: `pgbench executes the statements that the service makes for a deposit alone, in its four commits, on the same Postgres (prepared, planned
as by the service, best number of clients), without HTTP, messages and trading platform: \`test/bench/limit/deposit.sql\`.`,

  async run(bench) {
    const program = findPgbench();
    if (program === undefined) throw new NotMeasured("pgbench was not found: install postgresql, or set POSTGRES_BIN");
    const system = await bench.system();
    const { investors, callers: all, rounds, measureMs } = bench.options;
    const callers = all.at(-1) ?? 1;
    const service = bench.use(serviceContestant(system, await createInvestors(system.client, investors)));
    const books = bench.use(await createLimitBooks(system.postgresUrl));
    await warmUp(books, program, bench.options.warmUpMs / 1_000);
    const rates: number[] = [];
    const usages: Usage[] = [];
    const limits: number[] = [];
    const byClients = new Map<number, number[]>(CLIENTS.map((clients) => [clients, []]));
    const costs: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await service.resume();
      const measured = await bench.measure(service, service.deposits, { kind: "closed", callers });
      rates.push(measured.rate);
      usages.push(usageOf(measured));
      costs.push(measured.costs["postgres"] ?? 0);
      service.pause();
      for (const [clients, found] of byClients) {
        found.push(await runPgbench({ program, url: books.url, script: SCRIPT, clients, seconds: measureMs / 1_000 }));
      }
      limits.push(Math.max(...[...byClients.values()].map((found) => found.at(-1) ?? 0)));
      bench.print(`service ${number(measured.rate)}/s, pgbench ${number(limits.at(-1) ?? 0)}/s`);
    }
    const cost = await costOf(books, system.processes().get("postgres") ?? 0, { program, seconds: measureMs / 1_000 });
    await requireWholeBooks(books);
    return {
      comparisons: [
        ratio(`deposits per second at ${callers}`, "pgbench, the same commits", ratiosOf(rates, limits), {
          target: { atLeast: 0.5 },
          limit: limitOf(usages),
        }),
      ],
      tables: [
        {
          title: "Deposits per second",
          columns: ["program", "at", "per second (min - max)", "Postgres, processor ms per deposit"],
          rows: [
            ["service", String(callers), spread(spreadOf(rates)), spread(spreadOf(costs))],
            ...Array.from(byClients, ([clients, found]) => [
              "pgbench",
              String(clients),
              spread(spreadOf(found)),
              clients === COST_CLIENTS ? number(cost) : "",
            ]),
          ],
        },
      ],
    };
  },
};

/** The number of clients of the warm-up, and at which the cost is measured: enough to keep two processors busy. */
const COST_CLIENTS = 8;

async function createLimitBooks(postgresUrl: string): Promise<BooksDatabase> {
  const count = Math.max(...CLIENTS) * ACCOUNTS_PER_CLIENT;
  const logins = Array.from({ length: count }, (_, index) => String(FIRST_LOGIN + index));
  const books = await createBooks(postgresUrl, "bench_limit", logins);
  for (const name of ["operation_number", "event_number"]) await books.pool.query(`create sequence ${name}`);
  await books.pool.query({
    text: "insert into funding.known_investor (login) select unnest($1::text[])",
    values: [logins],
  });
  return books;
}

/** Some deposits, and statistics of them: empty tables would be planned to be read whole. */
async function warmUp({ url, pool }: BooksDatabase, program: string, seconds: number): Promise<void> {
  await runPgbench({ program, url, script: SCRIPT, clients: COST_CLIENTS, seconds });
  await pool.query("analyze");
}

/** Processor milliseconds of Postgres per deposit of pgbench. */
async function costOf(
  { url }: BooksDatabase,
  postgres: number,
  { program, seconds }: { readonly program: string; readonly seconds: number },
): Promise<number> {
  const before = processorSeconds(postgres);
  const rate = await runPgbench({ program, url, script: SCRIPT, clients: COST_CLIENTS, seconds });
  return ((processorSeconds(postgres) - before) * 1_000) / (rate * Math.ceil(seconds));
}

/** Every deposit of pgbench left all of its rows. */
async function requireWholeBooks({ pool }: BooksDatabase): Promise<void> {
  const { rows } = await pool.query<Record<string, bigint>>(
    `select (select count(*) from funding.cashflow where state = 'POSTED') as posted,
            (select count(*) from funding.cashflow) as requested,
            (select count(*) from platform.leg where state = 'APPLIED') as applied,
            (select count(*) from platform.attempt where state = 'APPLIED') as attempts,
            (select count(*) from platform.log_entry where kind = 'deposit') as logged,
            (select count(*) from platform.outbox) as published,
            (select sum(log_minor) / 100 from platform.account)::bigint as credited`,
  );
  const counts = Object.entries(rows[0] ?? {});
  if (new Set(counts.map(([, count]) => count)).size > 1) {
    throw new Violated([`pgbench: ${counts.map(([name, count]) => `${count} ${name}`).join(", ")}`]);
  }
}
