import type { StepSizes } from "../domain/step-sizes.ts";
import { withQueues } from "./fee.ts";
import type { World } from "./world.ts";

/** The same world, whose transactions do as little as that. */
export function inSteps(world: World, steps: StepSizes): World {
  return { ...world, deps: withQueues({ ...world.deps, steps }) };
}
