import { type Environment, readConfig, type Settings } from "#kernel/process/config.ts";
import { settings as account } from "../../../services/account/config.ts";
import { settings as edge } from "../../../services/edge/config.ts";
import { settings as fee } from "../../../services/fee/config.ts";
import { settings as funding } from "../../../services/funding/config.ts";
import { settings as platform } from "../../../services/platform/config.ts";
import { settings as simulator } from "../../../services/simulator/config.ts";
import { settings as subscription } from "../../../services/subscription/config.ts";

const SETTINGS = { account, edge, fee, funding, platform, simulator, subscription } satisfies Record<string, Settings>;

/** The programs that start with `node services/<name>/main.ts`. */
export type Program = keyof typeof SETTINGS;
export const PROGRAMS = Object.keys(SETTINGS) as Program[];

/** Reads an environment as the program does. */
export function readAs(program: Program, env: Environment): Readonly<Record<string, unknown>> {
  return readConfig(SETTINGS[program], env);
}

/** The accepted names of a variable, the usual one first. */
export type Variable = { readonly names: readonly string[]; readonly isSecret: boolean };

export function variablesOf(program: Program): Variable[] {
  return Object.entries<Settings[string]>(SETTINGS[program]).map(([name, { isSecret, otherwise }]) => {
    const plain = otherwise === undefined ? [name] : [name, otherwise];
    return { names: isSecret ? plain.flatMap((each) => [each, `${each}_FILE`]) : plain, isSecret };
  });
}
