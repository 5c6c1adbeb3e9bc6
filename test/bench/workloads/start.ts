import { setTimeout as sleep } from "node:timers/promises";
import { SERVICES } from "../../../deploy/provision/services.ts";
import { eventually } from "../../journey/support/client.ts";
import type { Bench, Workload } from "../bench.ts";
import type { Contestant } from "../contest/contestant.ts";
import { depositsTo, serviceContestant } from "../contest/service.ts";
import type { Outcome } from "../load/job.ts";
import { number } from "../report/format.ts";
import { figure, type Section } from "../section.ts";
import { createInvestors } from "../system/accounts.ts";
import { countOperations, type Crash, killAll } from "../system/kill-services.ts";
import type { System } from "../system/start-system.ts";

/** Operations that are open when all services are killed, each on an account of its own. */
const OPEN = 1_000;
const QUICK_OPEN = 32;
/** Until the crash the platform executes slowly, so that all operations are recorded before many of them are final. */
const SLOW_TRADES = { command: "trade/balance", effect: "delay", delay_ms: 2_000, times: 1_000_000 };
/** A process that ran for less is restarted after a pause, see keep-running.ts. */
const STABLE_MS = 12_000;
const QUICK_STABLE_MS = 1_000;
/** One service after another is killed in this interval. */
const KILL_EVERY_MS = 10_000;
const QUICK_KILL_EVERY_MS = 3_000;
/** Share of the capacity that is offered meanwhile. */
const LOAD = 0.3;

export const start: Workload = {
  name: "start",
  title: "Starts after a crash",
  about: `All six services are killed (SIGKILL) while operations are open, and started again by the launcher: until \`/readyz\` answers 200, and until
every recorded operation has its final state. Then, under an open loop at 30 % of the capacity, one service after another is killed
every 10 seconds: requests carry an \`Idempotency-Key\` and are repeated once, after their \`Retry-After\`.`,

  async run(bench) {
    const system = await bench.system();
    const { isQuick } = bench.options;
    const open = isQuick ? QUICK_OPEN : OPEN;
    const stableMs = isQuick ? QUICK_STABLE_MS : STABLE_MS;
    const logins = await createInvestors(system.client, open);
    const service = bench.use(serviceContestant(system, logins));
    const callers = bench.options.callers.at(-1) ?? 1;
    const capacity = await bench.measure(service, service.deposits, { kind: "closed", callers });
    const crashes: Crash[] = [];
    for (let round = 0; round < bench.options.rounds; round += 1) {
      await sleep(stableMs);
      crashes.push(await crash(bench, system, { service, logins }));
    }
    await sleep(stableMs);
    const killed = await killInTurn(bench, system, service, capacity.rate * LOAD);
    return sectionOf(crashes, killed);
  },
};

type Crowd = { readonly service: Contestant; readonly logins: readonly string[] };

async function crash(bench: Bench, system: System, { service, logins }: Crowd): Promise<Crash> {
  await using operations = await countOperations(system);
  const before = await operations.count();
  await system.client.control("POST", "faults", SLOW_TRADES);
  const sending = bench.send(
    service,
    depositsTo(logins),
    { kind: "once", callers: logins.length },
    { warmUpMs: 0, measureMs: 1 },
  );
  const crashing = async () => {
    await eventually(async () => {
      const { requested } = await operations.count();
      const missing = logins.length - (requested - before.requested);
      if (missing > 0) throw new Error(`${missing} operations are not recorded`);
    });
    await system.client.control("DELETE", "faults");
    return await killAll(system, operations);
  };
  const [{ open, readySeconds, finalSeconds }] = await Promise.all([crashing(), sending]);
  bench.print(
    `${open} operations open: ready after ${number(readySeconds)} s, all final after ${number(finalSeconds)} s`,
  );
  return { open, readySeconds, finalSeconds };
}

async function killInTurn(
  bench: Bench,
  system: System,
  service: Contestant,
  perSecond: number,
): Promise<readonly Outcome[]> {
  const everyMs = bench.options.isQuick ? QUICK_KILL_EVERY_MS : KILL_EVERY_MS;
  const measureMs = everyMs * SERVICES.length;
  const shape = { kind: "open", perSecond } as const;
  const killing = async (): Promise<void> => {
    await sleep(bench.options.warmUpMs);
    for (const name of SERVICES) {
      system.signal(name, "SIGKILL");
      await sleep(everyMs);
    }
  };
  const sending = bench.send(service, service.deposits, shape, { measureMs, repeats: true });
  const [{ outcomes }] = await Promise.all([sending, killing()]);
  return outcomes;
}

function sectionOf(crashes: readonly Crash[], outcomes: readonly Outcome[]): Section {
  const isDone = (status: number): boolean => status === 200;
  const first = outcomes.filter(({ status, firstStatus }) => isDone(firstStatus ?? status)).length;
  const repeated = outcomes.filter(({ firstStatus }) => firstStatus !== undefined);
  const second = repeated.filter(({ status }) => isDone(status)).length;
  const percent = (part: number, whole: number): number => (whole === 0 ? 100 : (100 * part) / whole);
  const times = (name: "readySeconds" | "finalSeconds"): number[] => crashes.map((each) => each[name]);
  const statuses = Object.entries(Object.groupBy(repeated, ({ firstStatus }) => String(firstStatus)));
  return {
    comparisons: [
      figure("ready after a crash of all services", "s", times("readySeconds"), { atMost: 5 }),
      figure("all operations final after a crash of all services", "s", times("finalSeconds")),
      figure("answered 200 at the first try while services are killed", "%", [percent(first, outcomes.length)], {
        atLeast: 80,
      }),
      figure("of the others answered 200 when repeated once", "%", [percent(second, repeated.length)], { atLeast: 95 }),
    ],
    tables: [
      {
        title: "Crashes of all services at once",
        columns: ["operations open", "ready after s", "all final after s"],
        rows: crashes.map(({ open, readySeconds, finalSeconds }) => [
          String(open),
          number(readySeconds),
          number(finalSeconds),
        ]),
      },
      {
        title: `One service after another killed: ${outcomes.length} requests, ${repeated.length} repeated`,
        columns: ["first answer", "requests", "then answered 200"],
        rows: statuses.map(([status, of = []]) => [
          status === "0" ? "none" : status,
          String(of.length),
          String(of.filter((each) => isDone(each.status)).length),
        ]),
      },
    ],
  };
}
