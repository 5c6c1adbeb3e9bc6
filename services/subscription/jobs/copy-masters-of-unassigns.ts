import type { Deps } from "../deps.ts";
import { copyMasters } from "../store/masters-of-unassigns.ts";

/** Unassigns of one run. Each is written once. */
const UNASSIGNS_PER_RUN = 500;

/** Unassigns that a version before 0.2.0 has recorded, which may still run beside this one, have no Master of their own. */
export async function copyMastersOfUnassigns({ pool }: Pick<Deps, "pool">): Promise<boolean> {
  return (await copyMasters(pool, UNASSIGNS_PER_RUN)) === UNASSIGNS_PER_RUN;
}
