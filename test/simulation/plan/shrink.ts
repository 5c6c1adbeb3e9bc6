import type { Plan } from "./plan.ts";

/** Plans that lack one element of this one. */
function smaller(plan: Plan): readonly Plan[] {
  const { faults, commands, consumers, processes, pools } = plan;
  return [
    ...faults.map((_, index) => ({ ...plan, faults: without(faults, index) })),
    ...commands.map((_, index) => ({ ...plan, commands: without(commands, index) })),
    ...(consumers.length > 1 ? consumers.map((_, index) => ({ ...plan, consumers: without(consumers, index) })) : []),
    ...(pools !== undefined && pools.feeProcesses > 1 ? [{ ...plan, pools: { ...pools, feeProcesses: 1 } }] : []),
    ...(processes.length > 1 ? [{ ...plan, processes: processes.slice(1) }] : []),
    ...(processes.some(({ skewMs }) => skewMs !== 0)
      ? [{ ...plan, processes: processes.map(() => ({ skewMs: 0 })) }]
      : []),
  ];
}

/** The smallest plan that still fails: no single element of it can be removed. */
export async function shrink(plan: Plan, stillFails: (smaller: Plan) => Promise<boolean>): Promise<Plan> {
  for (const candidate of smaller(plan)) {
    if (await stillFails(candidate)) return shrink(candidate, stillFails);
  }
  return plan;
}

function without<T>(items: readonly T[], index: number): readonly T[] {
  return items.toSpliced(index, 1);
}
