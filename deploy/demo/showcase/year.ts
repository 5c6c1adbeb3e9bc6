import { dollars } from "../funds.ts";
import type { Master } from "../provision.ts";
import { cutOffsBetween, untilCutOff } from "../weeks.ts";
import { isObject, textOf } from "../exact-json.ts";
import { poll } from "../wait.ts";
import { type Character, CHARACTERS } from "./characters.ts";
import { closingWeek } from "./plan.ts";
import { createPool, createShowcaseMaster, playWeek, type Stage, type ShowcasePool, Turns } from "./pools.ts";

/** Weeks between two lines of the terminal. */
const REPORT_EVERY = 13;
/** A withdrawal takes a few of these weeks: it waits for the fees of those that have ended. */
const MAX_WEEKS_BEHIND = 8;
/** The proof is answered when it has converged, or after this time. */
const WAIT_S = 10;
const SETTLED = { withinMs: 180_000, everyMs: 250 };

/** Each week of the showcase begins with a fee week of the system. Returns when all that was begun has ended. */
export async function playYear(stage: Stage): Promise<readonly ShowcasePool[]> {
  const { print, system, size } = stage;
  print.step("Three Masters and their Investors are created, and the first Investors join");
  const masters: { readonly character: Character; readonly master: Master }[] = [];
  // One after the other, so that their logins have this order.
  for (const character of CHARACTERS) masters.push({ character, master: await createShowcaseMaster(stage, character) });
  const pools = await Promise.all(masters.map(({ character, master }) => createPool(stage, character, master)));
  for (const { character, master, investors } of pools) {
    print.note(`${master.login}  ${character.strategyName}: ${character.strategy}; ${investors.length} Investors`);
  }
  print.step(`${size.weeks} fee weeks of trading`);
  const turns = new Turns();
  const startedAt = Date.now();
  const begun: Promise<void>[] = [];
  for (let week = 0; week < size.weeks; week += 1) {
    // On a slow machine the year takes longer, and what was decided in a week is not done months later.
    await begun[week - MAX_WEEKS_BEHIND];
    await untilCutOff(system.weeks);
    await Promise.all(pools.map((pool) => playWeek(stage, pool, week, turns)));
    begun.push(turns.ended());
    if ((week + 1) % REPORT_EVERY === 0) print.note(await reportOf(stage, pools, week + 1));
  }
  await turns.ended();
  const lasted = cutOffsBetween(system.weeks, startedAt, Date.now()).length;
  print.note(`${size.weeks} weeks of the showcase took ${lasted} fee weeks of ${system.weeks.periodMs / 1_000} s`);
  print.step("Until every cent is where it belongs: fees paid, mirrors on the Masters, the closed Master empty");
  await Promise.all(pools.map(async (pool) => await untilSettled(stage, pool)));
  return pools;
}

async function untilSettled(stage: Stage, { character, master }: ShowcasePool): Promise<void> {
  const { print, size } = stage;
  const isClosed = closingWeek(character, size) !== undefined;
  const last = { seen: "" };
  const options = { ...SETTLED, what: `the Master ${master.login} to be ${isClosed ? "archived" : "converged"}` };
  await poll(
    options,
    async () => {
      last.seen = isClosed ? await read(stage, `master/${master.id}/profile`, "state") : await converged(stage, master);
      return last.seen === (isClosed ? "archived" : "converged") ? true : undefined;
    },
    () => last.seen,
  );
  print.note(`${master.login}  ${character.strategyName} is ${last.seen}`);
}

async function converged({ funds }: Stage, { login }: Master): Promise<string> {
  const proof = await funds.api.read(`/api/v1/info/master/${login}/proof?limit=1&wait=${WAIT_S}`);
  return isObject(proof) && proof["converged"] === true ? "converged" : "not converged";
}

async function read({ funds }: Stage, path: string, member: string): Promise<string> {
  const answer = await funds.api.read(`/api/v1/${path}`);
  return isObject(answer) ? textOf(answer, member) : "";
}

async function reportOf({ funds }: Stage, pools: readonly ShowcasePool[], week: number): Promise<string> {
  const balances = await Promise.all(
    pools.map(async ({ character, master }) => {
      return `${character.strategyName} ${dollars(await funds.platform.balance(master.login))}`;
    }),
  );
  return `week ${week}: ${balances.join(", ")}`;
}
