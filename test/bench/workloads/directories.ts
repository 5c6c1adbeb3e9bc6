import { join } from "node:path";
import { itemsOf, type JsonObject, textOf } from "../../../deploy/demo/exact-json.ts";
import type { Client } from "../../journey/support/client.ts";
import { type Bench, type Measurement, NotMeasured, Violated, type Workload } from "../bench.ts";
import type { Contestant } from "../contest/contestant.ts";
import { serviceContestant } from "../contest/service.ts";
import { findPgbench, runPgbench } from "../limit/pgbench.ts";
import { limitOf, usageOf } from "../limit-of.ts";
import type { RequestTemplate } from "../load/job.ts";
import { number, spread } from "../report/format.ts";
import { ratio, type Section } from "../section.ts";
import { median, ratiosOf, spreadOf } from "../statistics.ts";
import { done } from "../system/accounts.ts";
import { databaseUrlOf, openDatabase } from "../system/database.ts";
import type { System } from "../system/start-system.ts";

const PAGE = 100;
/** Pages among which a random one is chosen. */
const RANDOM_PAGES = 500;
const PGBENCH_CLIENTS = 8;
const SCRIPT = join(import.meta.dirname, "../limit/page.sql");
const DIRECTORY = `/api/v1/investor/directory?engine=PAMM&limit=${PAGE}`;

export const directories: Workload = {
  name: "directories",
  title: "Directory of Investors",
  about: `\`GET /api/v1/investor/directory\` with 1,000,000 Investors that were loaded by SQL: random pages of 100, against pgbench with the select of
the page (\`test/bench/limit/page.sql\`), the first page against the last one, and a walk through all pages, which has to show each
Investor once.`,
  isLarge: true,

  async run(bench) {
    const program = findPgbench();
    if (program === undefined) throw new NotMeasured("pgbench was not found: install postgresql, or set POSTGRES_BIN");
    const large = await bench.large();
    const { system } = large;
    await large.load();
    const url = databaseUrlOf(system);
    const last = await findLastId(system);
    const walked = await walk(system.client, last);
    bench.print(`${number(walked.cursors.length)} pages walked in ${number(walked.seconds)} s`);
    const service = bench.use(serviceContestant(system, []));
    const seconds = bench.options.measureMs / 1_000;
    const random: { service: Measurement; limit: number }[] = [];
    const ends: { first: number; last: number }[] = [];
    for (let round = 0; round < bench.options.rounds; round += 1) {
      await service.resume();
      const callers = bench.options.callers.at(-1) ?? 1;
      const pages = await bench.measure(service, randomPages(walked.cursors), { kind: "closed", callers });
      ends.push(await measureEnds(bench, service, walked.cursors));
      service.pause();
      const run = { program, url, script: SCRIPT, clients: PGBENCH_CLIENTS, seconds, define: { last } };
      const limit = await runPgbench(run);
      bench.print(`${number(pages.rate)} pages/s, pgbench ${number(limit)}/s`);
      random.push({ service: pages, limit });
    }
    await service.resume();
    return sectionOf({ random, ends, walkSeconds: walked.seconds, pages: walked.cursors.length });
  },
};

async function findLastId(system: System): Promise<number> {
  await using database = await openDatabase(system);
  const { rows } = await database.client.query<{ last: string }>("select max(id) as last from account.investor");
  return Number(rows[0]?.last);
}

type Walked = {
  /** Of each page but the first. */
  readonly cursors: readonly string[];
  readonly seconds: number;
};

async function walk(client: Client, last: number): Promise<Walked> {
  const cursors: string[] = [];
  const startedMs = performance.now();
  let lastId = 0;
  for (let more = ""; ;) {
    const { body } = await done(client.get(DIRECTORY + more));
    lastId = requireAscending(itemsOf(body["items"]), lastId);
    if (body["has_more"] !== true) break;
    const cursor = encodeURIComponent(textOf(body, "next_cursor"));
    cursors.push(cursor);
    more = `&cursor=${cursor}`;
  }
  if (lastId !== last) throw new Violated([`the walk ended at Investor ${lastId} of ${last}`]);
  return { cursors, seconds: (performance.now() - startedMs) / 1_000 };
}

/** The ids of a page follow one another without a gap, because no registration failed. Returns the last id. */
function requireAscending(items: readonly JsonObject[], lastId: number): number {
  return items.reduce((previous, item) => {
    const id = Number(textOf(item, "id"));
    if (previous !== 0 && id !== previous + 1) throw new Violated([`Investor ${id} follows ${previous} in the walk`]);
    return id;
  }, lastId);
}

function randomPages(cursors: readonly string[]): RequestTemplate[] {
  return Array.from({ length: RANDOM_PAGES }, () => pageAt(cursors[Math.floor(Math.random() * cursors.length)]));
}

function pageAt(cursor: string | undefined): RequestTemplate {
  return { method: "GET", path: DIRECTORY + (cursor === undefined ? "" : `&cursor=${cursor}`), login: "", minor: 0 };
}

/** The time of the first page and of the last one, in milliseconds. */
async function measureEnds(bench: Bench, service: Contestant, cursors: readonly string[]) {
  const shape = { kind: "closed", callers: 1 } as const;
  const { p50: first } = await bench.measure(service, [pageAt(undefined)], shape);
  // The last page may have few rows; the one before it is as full as the first.
  const { p50: last } = await bench.measure(service, [pageAt(cursors.at(-2) ?? cursors.at(-1))], shape);
  return { first, last };
}

type Found = {
  readonly random: readonly { readonly service: Measurement; readonly limit: number }[];
  readonly ends: readonly { readonly first: number; readonly last: number }[];
  readonly walkSeconds: number;
  readonly pages: number;
};

function sectionOf({ random, ends, walkSeconds, pages }: Found): Section {
  const rates = random.map(({ service }) => service.rate);
  const limits = random.map(({ limit }) => limit);
  const [firsts, lasts] = [ends.map(({ first }) => first), ends.map(({ last }) => last)];
  return {
    comparisons: [
      ratio("random pages of the directory per second", "pgbench of the select", ratiosOf(rates, limits), {
        target: { atLeast: 0.4 },
        limit: limitOf(random.map(({ service }) => usageOf(service))),
      }),
      ratio("p50 of the last page of the directory", "its first page", ratiosOf(lasts, firsts), {
        target: { atMost: 1.2 },
      }),
    ],
    tables: [
      {
        title: `Pages of ${PAGE}`,
        columns: ["what", "median (min - max)", "p50 ms"],
        rows: [
          [
            "random pages, service",
            `${spread(spreadOf(rates))} per second`,
            number(median(random.map(({ service }) => service.p50))),
          ],
          ["random pages, pgbench", `${spread(spreadOf(limits))} per second`, ""],
          ["first page, one at a time", "", number(median(firsts))],
          ["last page, one at a time", "", number(median(lasts))],
          [`walk through ${pages + 1} pages, one after the other`, `${number(walkSeconds)} s`, ""],
        ],
      },
    ],
  };
}
