import type { Plan } from "./plan.ts";

/** Plans that leave out one thing of this one. */
function smaller(plan: Plan): readonly Plan[] {
  const { faults, commands, followers, processes, pools } = plan;
  return [
    ...faults.map((_, place) => ({ ...plan, faults: without(faults, place) })),
    ...commands.map((_, place) => ({ ...plan, commands: without(commands, place) })),
    ...(followers.length > 1 ? followers.map((_, place) => ({ ...plan, followers: without(followers, place) })) : []),
    ...(pools !== undefined && pools.feeProcesses > 1 ? [{ ...plan, pools: { ...pools, feeProcesses: 1 } }] : []),
    ...(processes.length > 1 ? [{ ...plan, processes: processes.slice(1) }] : []),
    ...(processes.some(({ skewMs }) => skewMs !== 0)
      ? [{ ...plan, processes: processes.map(() => ({ skewMs: 0 })) }]
      : []),
  ];
}

/** The smallest plan found that still fails: nothing more can be left out of it alone. */
export async function shrink(plan: Plan, stillFails: (smaller: Plan) => Promise<boolean>): Promise<Plan> {
  for (const candidate of smaller(plan)) {
    if (await stillFails(candidate)) return shrink(candidate, stillFails);
  }
  return plan;
}

function without<T>(items: readonly T[], place: number): readonly T[] {
  return items.filter((_, index) => index !== place);
}
