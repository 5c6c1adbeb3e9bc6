import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFailed, test } from "vitest";
import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { testDatabase } from "#test/support/database.ts";
import { startOwnNats } from "#test/support/nats.ts";
import { type AdversarialProxy, startAdversarialProxy } from "./adversarial-proxy/proxy.ts";
import { createAccount, runTransfers, type Service, type AnsweredTransfer } from "./adversarial-proxy/requests.ts";
import { startPlatformProcess } from "./adversarial-proxy/service.ts";
import { findContradictions, minorOf, readDeals } from "./adversarial-proxy/verdict.ts";
import { FUZZ_SEED, FUZZ_TIMEOUT_MS, report, runsOf } from "./support/fuzz.ts";
import { randomOf } from "./support/random.ts";

const HISTORIES = 20;
const AT_ONCE = 12;
const KILLS = 2;
const PAYMENT_ACCOUNTS = 4;
const LOGS_AGREE_WITHIN_MS = 30_000;
const MAX_ERRORS = 20;
const SHOWN_ERROR_LENGTH = 1_200;

test(
  "no transfer is executed twice and no answer is wrong while the platform is adversarial and the service is killed",
  async () => {
    const histories = runsOf(HISTORIES);
    await using proxy = await startAdversarialProxy(FUZZ_SEED);
    const database = await testDatabase("platform");
    const nats = await startOwnNats();
    await using service = await startPlatformProcess({ proxy, databaseUrl: database.url, natsUrl: nats.url });
    onTestFailed(() => void process.stderr.write(errorsIn(service.output())));
    const payments = await Promise.all(
      range(PAYMENT_ACCOUNTS).map((at) => createAccount(service.client, "payment", `${at}`)),
    );

    proxy.faultPercent = { transfers: 60, reads: 8, connections: 5 };
    const answered: AnsweredTransfer[] = [];
    const queue = range(histories).values();
    const worker = async (): Promise<void> => {
      for (const at of queue) answered.push(...(await runAccountTransfers(service.client, payments, at)));
    };
    const killing = killRepeatedly(service.kill, Math.ceil(KILLS * (histories / HISTORIES)));
    await Promise.all([...range(Math.min(AT_ONCE, histories)).map(worker), killing]);
    proxy.faultPercent = { transfers: 0, reads: 0, connections: 0 };

    const reviews = await reviewsByKey(database.pool);
    const deals = await readDeals(proxy);
    expect(findContradictions(answered, { deals, faultsByLogin: proxy.faultsByLogin, reviews })).toEqual([]);
    await expectLogsToAgree(database.pool, proxy);
    expect(service.crashes()).toBe(0);
    report(`${summaryOf(answered)}; ${proxy.requests} requests, ${deals.length} deals)`, answered.length);
  },
  FUZZ_TIMEOUT_MS * 4,
);

async function runAccountTransfers(
  service: Service,
  payments: readonly string[],
  at: number,
): Promise<AnsweredTransfer[]> {
  const id = `${FUZZ_SEED}-${at}`;
  const investor = await createAccount(service, "investor", id);
  const master = await createAccount(service, "master", id);
  return await runTransfers(service, { investor, master, payments }, id, amountsFrom(BigInt(at) * 10n));
}

async function killRepeatedly(kill: (pauseMs: number) => Promise<void>, times: number): Promise<void> {
  const random = randomOf(FUZZ_SEED, "kills");
  for (let killed = 0; killed < times; killed += 1) {
    await sleep(2_000 + random.below(3_000));
    await kill(random.below(500));
  }
}

async function reviewsByKey(db: Queryable): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await many<{ key: string; reasons: string[] }>(
    db,
    sql`select transfer.key, array_agg(finding.reason) as reasons
        from finding
        join leg on leg.number = finding.leg_number
        join transfer on transfer.id = leg.transfer_id
        group by transfer.key`,
  );
  return new Map(rows.map(({ key, reasons }) => [key, reasons]));
}

/** Without pending transfers, the log of an account adds up to its balance, unless it is in manual review. */
async function expectLogsToAgree(db: Queryable, { control }: AdversarialProxy): Promise<void> {
  const differences = async (): Promise<string[]> => {
    const logs = await many<{ login: string; log_minor: bigint }>(
      db,
      sql`select login, log_minor from account where login not in (
            select login from finding
            union
            select login from log_entry where kind = 'amendment'
          )`,
    );
    const wrong: string[] = [];
    for (const { login, log_minor: logged } of logs) {
      const { balance } = await control.account(login);
      if (logged !== minorOf(balance)) wrong.push(`${login}: log ${logged}, balance ${balance}`);
    }
    return wrong;
  };
  await expect.poll(differences, { timeout: LOGS_AGREE_WITHIN_MS, interval: 500 }).toEqual([]);
}

/** Errors in the output of the service, each message once. */
function errorsIn(output: string): string {
  const lines = output.split("\n").filter((line) => !line.startsWith("{") || /"level":"(?:error|fatal)"/.test(line));
  const byMessage = Map.groupBy(lines, (line) => /"message":"([^"]*)/.exec(line)?.[1] ?? line);
  const shown = Array.from(byMessage.values(), (all) => `${all.length} x ${all[0]?.slice(0, SHOWN_ERROR_LENGTH)}`);
  return `${shown.slice(0, MAX_ERRORS).join("\n")}\n`;
}

function summaryOf(answered: readonly AnsweredTransfer[]): string {
  const counts = Object.entries(TransferState).map(([name, state]) => {
    return { name, count: answered.filter(({ answers }) => answers.at(-1)?.state === state).length };
  });
  const shown = counts.filter(({ count }) => count > 0).map(({ name, count }) => `${count} ${name}`);
  return `transfers with an adversarial platform (${shown.join(", ")}`;
}

function amountsFrom(first: bigint): () => bigint {
  let last = first;
  return () => (last += 1n);
}

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}
