import type { TObject, TProperties } from "typebox";
import { variableOf } from "#kernel/config-variables.ts";
import { type Environment, readConfig } from "#kernel/config.ts";
import { settings as account } from "../../../services/account/config.ts";
import { settings as edge } from "../../../services/edge/config.ts";
import { settings as fee } from "../../../services/fee/config.ts";
import { settings as funding } from "../../../services/funding/config.ts";
import { settings as platform } from "../../../services/platform/config.ts";
import { CONFIG as simulator } from "../../../services/simulator/config.ts";
import { settings as subscription } from "../../../services/subscription/config.ts";

const SCHEMAS = { account, edge, fee, funding, platform, simulator, subscription };

/** The programs that start with `node services/<name>/main.ts`. */
export type Program = keyof typeof SCHEMAS;
export const PROGRAMS = Object.keys(SCHEMAS) as Program[];

/** Reads an environment as the program does. */
export function readAs(program: Program, env: Environment): Readonly<Record<string, unknown>> {
  return readConfig(SCHEMAS[program] as TObject<TProperties>, env);
}

/** The accepted names of a variable, the usual one first. */
export type Variable = { readonly names: readonly string[]; readonly isSecret: boolean };

export function variablesOf(program: Program): Variable[] {
  return Object.entries(SCHEMAS[program].properties as TProperties).map(([name, field]) => {
    const { isSecret, otherwise } = variableOf(field);
    const plain = otherwise === undefined ? [name] : [name, otherwise];
    return { names: isSecret ? plain.flatMap((each) => [each, `${each}_FILE`]) : plain, isSecret };
  });
}
