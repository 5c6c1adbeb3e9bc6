import { History } from "../history.ts";
import { installVirtualTime } from "../world/virtual-time.ts";
import { makeGrowthPlan, WEEK_MS } from "./make-growth-plan.ts";
import { grownIn, SizesOfWeeks, type WeekSizes } from "./week-sizes.ts";

export type Growth = {
  readonly weeks: readonly WeekSizes[];
  /** The sizes that have grown, and a broken invariant. */
  readonly problems: readonly string[];
};

/** Simulates many fee weeks with the same work, and compares the last ones with the first ones. */
export async function grow(weeks: number): Promise<Growth> {
  installVirtualTime();
  const history = new History(makeGrowthPlan(weeks), false);
  const sizes = new SizesOfWeeks(history.databases);
  for (let week = 1; week <= weeks; week += 1) {
    history.scheduler.after(week * WEEK_MS - 1, "a week ends", () => sizes.endWeek());
  }
  await history.run();
  const { violation } = history.notes;
  const broken = violation === undefined ? [] : [`${violation.invariant}: ${violation.message}`];
  return { weeks: sizes.weeks, problems: [...broken, ...grownIn(sizes.weeks)] };
}
