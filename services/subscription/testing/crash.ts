import { type Mortal as MortalProcess, mortalProcess } from "#kernel/testing/crash.ts";
import type { Deps } from "../deps.ts";
import { createBells } from "../service.ts";

export type Mortal = Pick<MortalProcess, "died" | "age"> & { readonly deps: Deps };

/** This service in a process that dies after so many steps. */
export function mortal(deps: Deps, steps: number): Mortal {
  const { pool, client, died, age } = mortalProcess(deps.pool, steps);
  const others = {
    platform: client(deps.platform),
    accounts: client(deps.accounts),
    fees: client(deps.fees),
  };
  return { died, age, deps: { ...deps, ...others, bells: createBells(), pool } };
}
