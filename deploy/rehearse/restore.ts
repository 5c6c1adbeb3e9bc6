import { rmSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject, itemsOf, textOf } from "../demo/exact-json.ts";
import type { Call } from "../demo/http.ts";
import { keyIn, keys } from "../demo/keys.ts";
import { codeOf } from "../demo/outcome.ts";
import { createPlatform, type Platform } from "../demo/platform.ts";
import { poll } from "../demo/wait.ts";
import { assignCall, createAccount, createCall, depositCall, registerCall, unassignCall } from "./accounts.ts";
import {
  type ArchivedDatabase,
  makeArchive,
  nameRestorePoint,
  recover,
  takeBaseBackup,
  turnOnArchiving,
} from "./archive.ts";
import { openBreaks, proveMovements, reasonAndLogin, untilBooksTie } from "./books.ts";
import { type Access, read, send, untilDone } from "./clients.ts";
import { launchSystem, type LaunchedSystem } from "./launched-system.ts";
import { openReviews, resumePermits, textOfOutcome } from "./operators.ts";
import type { Rehearsal } from "./rehearsal.ts";
import { runRehearsal } from "./run-rehearsal.ts";
import { type Caller, type Command, executionsOf, newCaller, sendCommand, startTraffic } from "./traffic.ts";

/** In production 5 minutes: the time in which the platform may still execute a command that the database has lost. */
const QUIET_PERIOD = "PT8S";
const SETTINGS = { PAMM_QUIET_PERIOD: QUIET_PERIOD, PAMM_CHECK_INTERVAL: "PT2S" };
const RESTORE_POINT = "before_the_loss";
const CALLERS = 6;
const TRAFFIC_MS = 4_000;
const KNOWN = { withinMs: 90_000, everyMs: 250 };

process.exitCode = await runRehearsal(
  "Rehearsal: the database is lost, and restored to an instant before its last commands.",
  async (rehearsal, { folder, stack }) => restore(rehearsal, stack.use(await launchSystem(folder, SETTINGS)), folder),
);

/** The system of the rehearsal, and who calls it. */
type Scene = {
  readonly rehearsal: Rehearsal;
  readonly system: LaunchedSystem;
  readonly database: ArchivedDatabase;
  /** Of the CRM. */
  readonly access: Access;
  readonly platform: Platform;
};
type People = {
  readonly first: Access;
  readonly second: Access;
  readonly master: string;
  readonly callers: readonly Caller[];
  /** Leaves the pool in the lost time. */
  readonly leaver: string;
};
/** What the database does not know any more. */
type Lost = { readonly commands: readonly Command[]; readonly newcomer: Newcomer; readonly seconds: number };
/** An Investor who is created in the lost time. */
type Newcomer = { readonly call: Call; readonly key: string; readonly login: string };

/** `make rehearse-restore`: the runbook of docs/operate/restore.md, carried out and timed. */
async function restore(rehearsal: Rehearsal, system: LaunchedSystem, folder: string): Promise<number> {
  const { dataDir, password } = system;
  const logFile = join(system.stateDir, "log/postgres.log");
  const database = { dataDir, password, logFile, archive: makeArchive(join(folder, "archive")) };
  await rehearsal.step("Start a system, and archive the log of its database", async (see) => {
    await turnOnArchiving(database);
    await system.start();
    see("archive_mode = on; the archive is another disk in production");
  });
  const { url, apiKey, controlUrl } = system.info();
  const scene = { rehearsal, system, database, access: { url, apiKey }, platform: createPlatform(controlUrl) };
  const people = await rehearsal.step("Create operators, a Master and Investors", (see) => createPeople(scene, see));
  await backUp(scene, people);
  const lost = await loseDatabase(scene, people);
  const beganAt = performance.now();
  await startAgain(scene);
  await passFence(scene, people, lost);
  await repeatLost(scene, people, lost);
  const recoverySeconds = (performance.now() - beganAt) / 1_000;
  await prove(scene, people, lost);
  return rehearsal.finish([
    `Recovery point: ${lost.seconds.toFixed(1)} s before the loss. Of that time ${lost.commands.length} commands were repeated.`,
    `Recovery time: ${recoverySeconds.toFixed(1)} s from the loss until the outcome of each of them was known, with a quiet period of ${QUIET_PERIOD} (5 minutes in production).`,
  ]);
}

async function createPeople({ system, access }: Scene, see: (text: string) => void): Promise<People> {
  const operatorOf = async (name: string): Promise<Access> => ({
    url: access.url,
    apiKey: keyIn(await keys(system.stateDir, "create", "--name", name, "--scopes", "ops")),
  });
  const [first, second] = [await operatorOf("first"), await operatorOf("second")];
  const master = await createAccount(() => access, "master", "Maya");
  const investor = async (name: string, isPooled: boolean): Promise<string> => {
    const login = await createAccount(() => access, "investor", name);
    await untilDone(() => access, depositCall(login, "1000.00", "initial"));
    if (isPooled) await untilDone(() => access, assignCall(master, login));
    return login;
  };
  const callers: Caller[] = [];
  for (let index = 0; index < CALLERS; index += 1) {
    callers.push(newCaller(await investor(`Ines${index}`, index % 2 === 0), index % 3 !== 0));
  }
  see(`${CALLERS} callers, half of them in the pool, two thirds with Idempotency-Keys`);
  return { first, second, master, callers, leaver: await investor("Noor", true) };
}

async function backUp({ rehearsal: { step }, system, database, access }: Scene, { callers }: People): Promise<void> {
  const traffic = startTraffic(() => access, callers, false);
  await step("Take a base backup while money moves", async () => {
    await sleep(TRAFFIC_MS / 2);
    await takeBaseBackup(system.databaseUrl(), system.dataDir, database.archive);
    await sleep(TRAFFIC_MS / 2);
  });
  // The instant is between two commands, so that exactly the later ones are lost.
  await traffic.stop();
  await step(`Name the instant: restore point ${RESTORE_POINT}`, async (see) => {
    await nameRestorePoint(system.databaseUrl(), RESTORE_POINT, database.archive);
    see(`${traffic.take().executed} deposits and withdrawals before it`);
  });
}

async function loseDatabase({ rehearsal: { step }, system, access }: Scene, people: People): Promise<Lost> {
  const { callers, master, leaver } = people;
  const pointAt = performance.now();
  const kept = callers.map(({ commands }) => commands.length);
  const traffic = startTraffic(() => access, callers, false);
  const newcomer = await step("Go on with traffic, which the database will lose", async (see) => {
    const [call, key] = [createCall("investor", "Noah"), randomUUID()];
    const login = textOf(await untilDone(() => access, call, key), "mt5_login");
    await untilDone(() => access, unassignCall(master, leaver));
    await sleep(TRAFFIC_MS);
    const { executed } = traffic.take();
    see(`${executed} deposits and withdrawals, an account that is created, an Investor who leaves the pool`);
    return { call, key, login };
  });
  const seconds = (performance.now() - pointAt) / 1_000;
  await step("Lose the database: everything is killed while money moves, and the data is deleted", async (see) => {
    await Promise.all([system.lose(), traffic.stop()]);
    rmSync(system.dataDir, { recursive: true, maxRetries: 3 });
    see(`${traffic.take().unknown} commands without an answer`);
  });
  return { newcomer, seconds, commands: callers.flatMap(({ commands }, index) => commands.slice(kept[index])) };
}

async function startAgain({ rehearsal: { step }, system, database, access }: Scene): Promise<void> {
  await step("Restore the base backup, replay the log up to the restore point, promote", async (see) => {
    const { timeline } = await recover({ ...database, restorePoint: RESTORE_POINT });
    see(`timeline ${timeline}`);
  });
  await step("Start the services", async (see) => {
    await system.start();
    const { status, body } = await read(access, "/readyz");
    see(`/readyz ${status} ${isObject(body) ? textOf(body, "status") : ""}: reads go on while permits are closed`);
  });
}

async function passFence({ rehearsal, access, platform }: Scene, people: People, lost: Lost): Promise<void> {
  const { step, check } = rehearsal;
  const { first, second, callers, leaver } = people;
  const { newcomer, commands } = lost;
  const review = await step("See what the operator sees: the fence", async (see) => {
    const found = await poll(
      { what: "the review database_behind", ...KNOWN },
      async () => (await openReviews(first)).find(({ reason }) => reason === "database_behind"),
      () => "no such review",
    );
    see(`review ${reasonAndLogin(found)}`);
    const stopped = textOfOutcome(await send(access, depositCall(leaver, "1.11", "fence")));
    see(`a deposit: ${stopped}`);
    check("nothing is sent", /^409 safety_stop.*not_executed/.test(stopped));
    return found;
  });
  await step("Callers repeat every command of the lost time: nothing may move", async (see) => {
    const before = await executionsOf(platform, callers);
    see(await answersTo(commands, async (command) => codeOfOutcome(await sendCommand(access, command))));
    const after = await executionsOf(platform, callers);
    check("no deal is new", [...before.values()].reduce(sum, 0) === [...after.values()].reduce(sum, 0));
  });
  await step("Read the breaks, and register the account of the lost time again", async (see) => {
    let breaks: readonly string[] = [];
    const hasAccount = async (): Promise<true | undefined> => {
      breaks = await openBreaks(first);
      return breaks.includes("unknown_accounts") ? true : undefined;
    };
    await poll({ what: "the break of the lost account", ...KNOWN }, hasAccount, () => breaks.join(", "));
    see([...new Set(breaks)].join(", "));
    const again = await send(access, newcomer.call, newcomer.key);
    see(`the caller repeats the creation: ${textOfOutcome(again)}`);
    check("no second account is made", again.kind !== "done");
    await untilDone(() => access, registerCall(newcomer.login, "Noah Okafor"));
    see(`investor/add of ${newcomer.login}`);
  });
  await step("Two operators decide resume", async (see) => {
    for (const refusal of await resumePermits(first, second, review)) see(`refused: ${refusal}`);
    see("approved");
  });
}

async function repeatLost({ rehearsal: { step }, access }: Scene, people: People, { commands }: Lost): Promise<void> {
  await step("Callers repeat the commands of the lost time until each is known", async (see) => {
    see(await answersTo(commands, (command) => untilKnown(access, command)));
    await untilDone(() => access, unassignCall(people.master, people.leaver));
    see("the Investor leaves again; what left the Master does not leave twice");
  });
}

async function prove({ rehearsal, access, platform }: Scene, people: People, lost: Lost): Promise<void> {
  const { step, check } = rehearsal;
  await step("Prove on the platform that each movement exists once", async (see) => {
    await untilBooksTie(access, people.master);
    see("no break, no review, the proof of the Master converges");
    const { commands, executed } = await proveMovements(rehearsal, { access, platform, callers: people.callers });
    see(`${commands} commands, ${executed} executed once`);
    check("each command was executed", lost.commands.length > 0 && executed === commands, `${executed} of ${commands}`);
    const accounts = await platform.send({ method: "GET", path: "/control/accounts" });
    const made = accounts.kind === "done" ? itemsOf(accounts.answer.body).length : 0;
    // The Master with its payment account, the callers, the one who leaves, and the newcomer.
    check("no account was made twice", made === CALLERS + 4, `${made} accounts`);
  });
}

async function answersTo(commands: readonly Command[], answer: (command: Command) => Promise<string>): Promise<string> {
  const counts = new Map<string, number>();
  for (const command of commands) {
    const given = await answer(command);
    counts.set(given, (counts.get(given) ?? 0) + 1);
  }
  return [...counts].map(([given, count]) => `${count} × ${given}`).join(", ");
}

/** The answers after which a caller knows: executed now, or executed in the lost time. */
async function untilKnown(access: Access, command: Command): Promise<string> {
  let last = "";
  return await poll(
    { what: `the outcome of ${command.comment}`, ...KNOWN },
    async () => {
      const outcome = await sendCommand(access, command);
      last = textOfOutcome(outcome);
      const code = codeOfOutcome(outcome);
      return outcome.kind === "done" || code === "409 possible_duplicate" ? code : undefined;
    },
    () => last,
  );
}

function codeOfOutcome(outcome: Awaited<ReturnType<typeof sendCommand>>): string {
  if (outcome.kind === "done") return "200";
  if (outcome.kind !== "refused") return outcome.why.split(":")[0] ?? "";
  return `${outcome.answer.status} ${codeOf(outcome.answer)}`;
}

function sum(total: number, value: number): number {
  return total + value;
}
