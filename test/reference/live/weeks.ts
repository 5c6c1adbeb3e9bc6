import { setTimeout as sleep } from "node:timers/promises";
import { type Live, WeekCrossedError } from "./live.ts";
import { untilEqual } from "./until-equal.ts";

/** A step begins only when the week has this much time left. */
const MIN_TIME_LEFT_MS = 2_500;
const INTO_THE_WEEK_MS = 50;

/** Runs a step that must not cross the end of a week, of which so much has to be left. */
export async function inWeek<T>(
  live: Live,
  text: string,
  act: () => Promise<T>,
  leftMs = MIN_TIME_LEFT_MS,
): Promise<T> {
  while (live.cutOff - Date.now() < leftMs) await nextWeek(live);
  live.transcript.push(text);
  live.world.now = Date.now();
  const [done] = await Promise.allSettled([act()]);
  // What has gone wrong by then, may have because of that.
  const cause = done.status === "rejected" ? done.reason : undefined;
  if (Date.now() >= live.cutOff) throw new WeekCrossedError(`"${text}" took until the next week`, { cause });
  if (done.status === "rejected") throw cause;
  return done.value;
}

/** Waits for the end of the week and until its fees are paid. */
export async function nextWeek(live: Live): Promise<void> {
  await sleep(Math.max(0, live.cutOff + INTO_THE_WEEK_MS - Date.now()));
  await untilEqual(live);
}

/** Runs several steps within one week; the amounts of an example depend on that. */
export async function inOneWeek<T>(live: Live, act: () => Promise<T>): Promise<T> {
  await nextWeek(live);
  const { cutOff } = live;
  const result = await act();
  if (live.cutOff !== cutOff) throw new WeekCrossedError("an example took longer than a week");
  return result;
}
