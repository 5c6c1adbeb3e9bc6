import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

export type Container = {
  readonly image: string;
  readonly build?: unknown;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks?: readonly string[];
  readonly network_mode?: string;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[]; readonly timeout: string };
  readonly read_only?: boolean;
  readonly user?: string;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly stop_grace_period?: string;
  readonly scale?: string;
};

export type ComposeFile = {
  readonly services: Readonly<Record<string, Container>>;
  readonly volumes: Readonly<Record<string, null>>;
  readonly networks: Readonly<Record<string, { readonly internal?: string } | null>>;
};

const ROOT = join(import.meta.dirname, "../../..");
/** `${NAME:-instead}` is the only form that docker-compose 1.29 and Docker Compose 2 both accept; `$$` stands for a dollar. */
const REFERENCE = /\$(?:\$|\{([A-Z0-9_]+):-([^}]*)\}|(.?))/g;

export function readFromRoot(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** docker-compose.yml as Compose sees it when its environment is this one. */
export function readComposeFile(env: Readonly<Record<string, string>> = {}): ComposeFile {
  return interpolate(parse(readFromRoot("docker-compose.yml"), { merge: true }), env) as ComposeFile;
}

export function container(file: ComposeFile, name: string): Container {
  const found = file.services[name];
  if (found === undefined) throw new Error(`docker-compose.yml has no ${name}`);
  return found;
}

function interpolate(value: unknown, env: Readonly<Record<string, string>>): unknown {
  if (typeof value === "string") return interpolateText(value, env);
  if (Array.isArray(value)) return value.map((item) => interpolate(item, env));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, interpolate(item, env)]));
}

function interpolateText(text: string, env: Readonly<Record<string, string>>): string {
  return text.replaceAll(REFERENCE, (whole, name?: string, instead?: string) => {
    if (whole === "$$") return "$";
    if (name === undefined) throw new Error(`docker-compose 1.29 and Docker Compose 2 do not both accept ${text}`);
    return env[name] || (instead ?? "");
  });
}
