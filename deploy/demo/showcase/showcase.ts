import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { launcherOf } from "../../local/state.ts";
import { createApi } from "../api.ts";
import { createPlatform } from "../platform.ts";
import type { Printer } from "../printer.ts";
import type { System } from "../system.ts";
import { freePorts, startOwnSystem } from "../temporary-system.ts";
import { DemoFailure } from "../wait.ts";
import { leaveSomethingToDecide } from "./afterwards.ts";
import { createPeople, findPeople, keepPeople, type People } from "./people.ts";
import { type Size, YEAR } from "./plan.ts";
import type { Stage } from "./pools.ts";
import { playYear } from "./year.ts";

/** Results are read several times in a week of three quarters of a second, and a break is found within two seconds. */
const PACE = { PAMM_FEE_PERIOD: "PT0.75S", MT5_READ_INTERVAL: "PT0.25S", PAMM_CHECK_INTERVAL: "PT2S" };
const PORT = "8090";

/**
 * `make demo story=showcase`: a year of trading for three Masters, on a system of its own whose fee weeks last three quarters of a second. The
 * system then stays until Ctrl-C; the next start shows the same data and trades no more.
 */
export async function showShowcase(print: Printer, args: readonly string[]): Promise<void> {
  const { size, ends } = readArguments(args);
  const stateDir = join(resolve(process.env["PAMM_STATE_DIR"] ?? ".state"), "showcase");
  const before = findPeople(stateDir);
  if (launcherOf(stateDir) !== undefined) throw new DemoFailure(`a system runs on ${stateDir}: make stop ends it`);
  // What is left of a showcase that was interrupted has no end.
  if (before === undefined) rmSync(stateDir, { recursive: true, force: true });

  print.title("A year of trading for three Masters, on a system of its own: a fee week lasts 0.75 s here");
  const port = process.env["PAMM_HTTP_PORT"] ?? PORT;
  const settings = { ...PACE, ...freePorts(), PAMM_HTTP_PORT: port };
  await using own = await startOwnSystem({ stateDir, settings, exitCode: 0 });
  const people = before ?? (await play(print, own.system, size, stateDir));
  printWhatToSee(print, own.system, people);
  if (!ends) await own.ended;
}

async function play(print: Printer, system: System, size: Size, stateDir: string): Promise<People> {
  const silent = (): void => {};
  const quiet: Printer = { title: silent, step: silent, request: silent, result: silent, note: silent };
  const ledger = { runId: "year", entries: [] };
  const funds = { api: createApi(system), print: quiet, ledger, platform: createPlatform(system.controlUrl) };
  const stage = { print, funds, system, size };
  const [people] = await Promise.all([createPeople(stateDir), playToTheEnd(stage)]);
  keepPeople(stateDir, people);
  return people;
}

async function playToTheEnd(stage: Stage): Promise<void> {
  await leaveSomethingToDecide(stage, await playYear(stage));
}

function printWhatToSee(print: Printer, { url }: System, { alice, bob }: People): void {
  print.title("Worth looking at");
  print.note(`console    ${url}/console`);
  print.note(`Alice      ${alice}`);
  print.note(`Bob        ${bob}`);
  print.note("Masters    Harbour is steady, Ridge has a drawdown, recovers and has an open position, Spark is closed");
  print.note("Reviews    one is open, with its break: Alice proposes, Bob approves");
  print.note("Fee runs   of 52 weeks. Weeks of 0.75 s go on, 115,200 a day: stop the system when you have seen it");
  print.title("Ctrl-C stops the system; make demo story=showcase shows it again with the same data.");
}

/** A test plays a short showcase, and does not stay. */
function readArguments(args: readonly string[]): { readonly size: Size; readonly ends: boolean } {
  const text = { type: "string" } as const;
  const options = { weeks: text, investors: text, end: { type: "boolean" } } as const;
  const { weeks, investors, end = false } = parseArgs({ args: [...args], options }).values;
  return { size: { weeks: Number(weeks ?? YEAR.weeks), investors: Number(investors ?? YEAR.investors) }, ends: end };
}
