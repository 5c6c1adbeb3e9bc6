import { itemsOf } from "./expect.ts";
import { memberOf } from "./http.ts";
import { NotTested } from "./outcome.ts";
import type { World } from "./world.ts";

const OF_A_WEEK = /:W$/;

/**
 * Observes fees that the end of a week would take first. A deployment may have short weeks without saying so: a weekly payment to the Master
 * shows that one has ended meanwhile, and then nothing is decided, whatever was observed.
 */
export async function withinOneWeek<T>(world: World, master: string, observe: () => Promise<T>): Promise<T> {
  try {
    return await observe();
  } finally {
    const { body } = await world.get(`/perf-fee/master/${master}/investor-payments`);
    const keys = itemsOf(memberOf(body, "items")).map((item) => String(memberOf(item, "cashflow_unique_key")));
    if (keys.some((key) => OF_A_WEEK.test(key))) {
      throw new NotTested("a fee week ended meanwhile: run it again, or with WEEK=<seconds>");
    }
  }
}
