import { readFileSync } from "node:fs";
import { type StaticDecode, type TObject, type TProperties, type TSchema } from "typebox";
import { Value } from "typebox/value";
import { variableOf } from "./config-variables.ts";
import { StartupError } from "./startup-error.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** All mistakes together, one line each. A line never contains a value: it may be a secret in the wrong variable. */
export class ConfigError extends StartupError {
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(mistakes.join("\n"));
    this.mistakes = mistakes;
  }
}

type Found = { readonly text: string | undefined } | { readonly mistake: string };

/** Reads the variables that the schema names; everything else in the environment is ignored. */
export function readConfig<Properties extends TProperties>(
  schema: TObject<Properties>,
  env: Environment,
): StaticDecode<TObject<Properties>> {
  const values: Record<string, unknown> = {};
  const mistakes: string[] = [];
  for (const [name, field] of Object.entries(schema.properties as Record<string, TSchema>)) {
    const read = readField(name, field, env);
    if ("mistake" in read) mistakes.push(read.mistake);
    else if (read.value !== undefined) values[name] = read.value;
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return values as StaticDecode<TObject<Properties>>;
}

function readField(name: string, field: TSchema, env: Environment): { value: unknown } | { mistake: string } {
  const { expects, whenMissing, isSecret, isOptional, otherwise } = variableOf(field);
  const names = otherwise === undefined ? [name] : [name, otherwise];
  const found = findText(names, isSecret, env);
  if ("mistake" in found) return found;
  const text = found.text ?? whenMissing;
  if (text === undefined) {
    return isOptional ? { value: undefined } : { mistake: `${names.join(" or ")} is missing: expected ${expects}` };
  }
  try {
    return { value: Value.Decode(field, text) };
  } catch {
    return { mistake: `${name} is not valid: expected ${expects}` };
  }
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
