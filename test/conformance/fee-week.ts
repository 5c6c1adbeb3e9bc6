import { itemsOf, textOf } from "./expect.ts";
import { memberOf } from "./http.ts";
import { NotTested } from "./outcome.ts";
import type { World } from "./world.ts";

const OF_A_WEEK = /:W$/;

/**
 * Observes fees that the end of a week would take first. A deployment may have short weeks without saying so: a weekly payment to the Master
 * shows that one has ended meanwhile, and then nothing is decided, whatever was observed.
 */
export async function withinOneWeek<T>(world: World, master: string, observe: () => Promise<T>): Promise<T> {
  const [observed] = await Promise.allSettled([observe()]);
  const { body } = await world.get(`/perf-fee/master/${master}/investor-payments`);
  if (itemsOf(memberOf(body, "items")).some((item) => OF_A_WEEK.test(textOf(item, "cashflow_unique_key")))) {
    throw new NotTested("a fee week ended meanwhile: run it again, or with WEEK=<seconds>");
  }
  if (observed.status === "rejected") throw observed.reason;
  return observed.value;
}
