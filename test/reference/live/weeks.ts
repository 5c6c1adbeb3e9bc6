import { setTimeout as sleep } from "node:timers/promises";
import { type Live, Straddled } from "./live.ts";
import { settled } from "./settled.ts";

/** So long before the end of a week nothing is begun any more. */
const ROOM_MS = 2_500;
const INTO_THE_WEEK_MS = 50;

/** Does something for which it has to be certain in which week it is. */
export async function inWeek<T>(live: Live, told: string, act: () => Promise<T>): Promise<T> {
  while (live.cutOff - Date.now() < ROOM_MS) await nextWeek(live);
  live.saga.push(told);
  live.world.now = Date.now();
  const result = await act();
  if (Date.now() >= live.cutOff) throw new Straddled(`"${told}" took until the next week`);
  return result;
}

/** Waits for the end of the week, and until its fees are paid: what comes then is shared by those who still own the pool. */
export async function nextWeek(live: Live): Promise<void> {
  await sleep(Math.max(0, live.cutOff + INTO_THE_WEEK_MS - Date.now()));
  await settled(live);
}

/** What happens between two ends of weeks, which has to be certain for the numbers of an example. */
export async function inOneWeek<T>(live: Live, act: () => Promise<T>): Promise<T> {
  await nextWeek(live);
  const { cutOff } = live;
  const result = await act();
  if (live.cutOff !== cutOff) throw new Straddled("an example took longer than a week");
  return result;
}
