import { readFileSync } from "node:fs";
import type { Variable } from "./config-variables.ts";
import { StartupError } from "./startup-error.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that a program reads, by name. */
export type Settings = Readonly<Record<string, Variable<unknown>>>;

export type Config<Known extends Settings> = {
  readonly [Name in keyof Known]: Known[Name] extends Variable<infer T> ? T : never;
};

/** All mistakes together, one line each. A line never contains a value: it may be a secret in the wrong variable. */
export class ConfigError extends StartupError {
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(mistakes.join("\n"));
    this.mistakes = mistakes;
  }
}

type Found = { readonly text: string | undefined } | { readonly mistake: string };

/** Reads the variables of the settings; everything else in the environment is ignored. */
export function readConfig<Known extends Settings>(settings: Known, env: Environment): Config<Known> {
  const values: Record<string, unknown> = {};
  const mistakes: string[] = [];
  for (const [name, variable] of Object.entries(settings)) {
    const read = readVariable(name, variable, env);
    if ("mistake" in read) mistakes.push(read.mistake);
    else if (read.value !== undefined) values[name] = read.value;
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return values as Config<Known>;
}

function readVariable(
  name: string,
  { expects, whenMissing, isSecret, isOptional, otherwise, parse }: Variable<unknown>,
  env: Environment,
): { value: unknown } | { mistake: string } {
  const names = otherwise === undefined ? [name] : [name, otherwise];
  const found = findText(names, isSecret, env);
  if ("mistake" in found) return found;
  const text = found.text ?? whenMissing;
  if (text === undefined) {
    return isOptional ? { value: undefined } : { mistake: `${names.join(" or ")} is missing: expected ${expects}` };
  }
  const value = parse(text);
  return value === undefined ? { mistake: `${name} is not valid: expected ${expects}` } : { value };
}

function findText(names: readonly string[], isSecret: boolean, env: Environment): Found {
  for (const name of names) {
    const text = present(env[name]);
    const file = isSecret ? present(env[`${name}_FILE`]) : undefined;
    if (text !== undefined && file !== undefined) return { mistake: `${name} and ${name}_FILE are both set: keep one` };
    if (file !== undefined) return readSecretFile(`${name}_FILE`, file);
    if (text !== undefined) return { text };
  }
  return { text: undefined };
}

/** Docker Compose passes unset variables as empty text. */
function present(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

function readSecretFile(name: string, path: string): Found {
  try {
    const text = readFileSync(path, "utf8").replace(/\r?\n$/, "");
    return text === "" ? { mistake: `${name} names a file that is empty` } : { text };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return { mistake: `${name} names a file that cannot be read (${code})` };
  }
}
