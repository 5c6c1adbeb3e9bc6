import type { Pool } from "#kernel/postgres/pool.ts";
import type { StepSizes } from "../domain/step-sizes.ts";
import { withQueues } from "./fee.ts";
import { anInvestor, aWorld, type World } from "./world.ts";

/** The same world, whose transactions do as little as that. */
export function inSteps(world: World, steps: StepSizes): World {
  return { ...world, deps: withQueues({ ...world.deps, steps }) };
}

/** A world in such steps with these Investors, each with 1,000.00 in the pool of the Master. */
export async function aPoolInSteps(
  steps: StepSizes,
  investors: readonly { readonly login: string; readonly ratePpm?: number }[],
  pool?: Pool,
): Promise<World> {
  const world = inSteps(await aWorld(pool), steps);
  for (const investor of investors) await anInvestor(world, { ...investor, deposit: "1000.00" });
  return world;
}
