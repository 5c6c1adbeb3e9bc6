import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

export type Container = {
  readonly image: string;
  readonly build?: { readonly target: string; readonly args: Readonly<Record<string, string>> };
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks?: readonly string[];
  readonly network_mode?: string;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string; readonly required?: boolean }>>;
  readonly healthcheck?: { readonly test: readonly string[]; readonly timeout: string };
  readonly read_only?: boolean;
  readonly user?: string;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly stop_grace_period?: string;
  readonly scale?: string;
  readonly profiles?: readonly string[];
  readonly mem_limit?: string;
  readonly cpus?: number | string;
  readonly pids_limit?: number;
};

export type Network = {
  readonly internal?: string | boolean;
  readonly driver_opts?: Readonly<Record<string, string>>;
  readonly ipam?: { readonly config: readonly { readonly subnet: string }[] };
};

export type ComposeFile = {
  readonly services: Readonly<Record<string, Container>>;
  readonly volumes: Readonly<Record<string, null>>;
  readonly networks: Readonly<Record<string, Network | null>>;
};

const ROOT = join(import.meta.dirname, "../../..");
/** `${NAME:-instead}` is the only form that is used: an unset variable is empty text to a service; `$$` stands for a dollar. */
const REFERENCE = /\$(?:\$|\{([A-Z0-9_]+):-([^}]*)\}|(.?))/g;

export function readFromRoot(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** docker-compose.yml as Compose sees it when its environment is this one. */
export function readComposeFile(env: Readonly<Record<string, string>> = {}): ComposeFile {
  const written = parse(readFromRoot("docker-compose.yml"), { merge: true, maxAliasCount: -1 }) as ComposeFile;
  const file = interpolate(written, env) as ComposeFile;
  const services = Object.entries(file.services).map(([name, { volumes, ...rest }]) => {
    return [name, volumes === undefined ? rest : { ...rest, volumes: volumes.map(shortForm) }] as const;
  });
  return { ...file, services: Object.fromEntries(services) };
}

type Bind = { readonly source: string; readonly target: string; readonly read_only: boolean };

/** A mount in the form `source:target:ro`, which the file uses for all but those whose source must exist before. */
function shortForm(mount: string | Bind): string {
  if (typeof mount === "string") return mount;
  return `${mount.source}:${mount.target}${mount.read_only ? ":ro" : ""}`;
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
    if (name === undefined) throw new Error(`write \${NAME:-instead} in ${text}`);
    return env[name] || (instead ?? "");
  });
}
