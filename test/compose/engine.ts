import { execFile } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

const ROOT = join(import.meta.dirname, "../..");
/** A build downloads packages. */
const TIMEOUT_MS = 1_200_000;
const MAX_OUTPUT_BYTES = 64 * 1024 ** 2;

/** A project of Docker Compose. */
export type Project = {
  readonly compose: (...args: string[]) => Promise<string>;
  readonly docker: (...args: string[]) => Promise<string>;
  /** A script of the repository. */
  readonly script: (path: string, ...args: string[]) => Promise<string>;
  /** The name of the only container of this service. */
  readonly container: (service: string, replica?: number) => string;
  readonly volume: (name: string) => string;
  /** The same containers with other variables. */
  readonly with: (env: Readonly<Record<string, string>>) => Project;
};

type Environment = Readonly<Record<string, string>>;

export function projectOf(name: string, env: Environment): Project {
  const run = async (command: string, args: readonly string[]): Promise<string> => {
    const options = {
      cwd: ROOT,
      env: { ...process.env, ...env, PROJECT: name },
      timeout: TIMEOUT_MS,
      maxBuffer: MAX_OUTPUT_BYTES,
    };
    try {
      return (await promisify(execFile)(command, args, options)).stdout.trim();
    } catch (error) {
      const { stderr = "", stdout = "" } = error as { stderr?: string; stdout?: string };
      const end = `${stdout}\n${stderr}`.trim().split("\n").slice(-LAST_LINES).join("\n");
      throw new Error(`${command} ${args.join(" ")} failed:\n${end}`, { cause: error });
    }
  };
  return {
    compose: (...args) => run("docker", ["compose", "--project-name", name, ...args]),
    docker: (...args) => run("docker", args),
    script: (path, ...args) => run("sh", [join(ROOT, path), ...args]),
    container: (service, replica = 1) => `${name}-${service}-${replica}`,
    volume: (volume) => `${name}_${volume}`,
    with: (more) => projectOf(name, { ...env, ...more }),
  };
}

const LAST_LINES = 20;
const OLDEST_COMPOSE = "2.20";

/** Why the test cannot run here; undefined when it can. */
export async function missingEngine(): Promise<string | undefined> {
  const { docker } = projectOf("none", {});
  try {
    await docker("info", "--format", "{{.ServerVersion}}");
  } catch {
    return "no Docker engine answers";
  }
  const version = await docker("compose", "version", "--short").catch(() => "");
  const isNew = version.replace(/^v/, "").localeCompare(OLDEST_COMPOSE, "en", { numeric: true }) >= 0;
  return version !== "" && isNew
    ? undefined
    : `Docker Compose ${OLDEST_COMPOSE} or newer is needed, found "${version}"`;
}
