import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { PLANNING } from "#kernel/postgres/pool.ts";

const DEBIAN_FOLDER = "/usr/lib/postgresql";
/** More threads than processors only compete. */
const MAX_THREADS = 2;

/** The newest pgbench of this machine: POSTGRES_BIN, Debian's folders, the path. Undefined when there is none. */
export function findPgbench(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const versions = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER) : [];
  const debian = versions.toSorted((a, b) => Number(b) - Number(a)).map((each) => join(DEBIAN_FOLDER, each, "bin"));
  const folders = [env["POSTGRES_BIN"], ...debian, ...(env["PATH"] ?? "").split(delimiter)];
  return folders.map((folder) => join(folder ?? "", "pgbench")).find(existsSync);
}

export type PgbenchRun = {
  readonly program: string;
  readonly url: string;
  readonly script: string;
  readonly clients: number;
  readonly seconds: number;
  /** Variables of the script. */
  readonly define?: Readonly<Record<string, number>>;
};

/** Transactions per second, without the time to connect. The statements are planned as those of a service. */
export async function runPgbench({ program, url, script, clients, seconds, define = {} }: PgbenchRun): Promise<number> {
  const args = [
    "--no-vacuum",
    "--protocol=prepared",
    `--file=${script}`,
    `--client=${clients}`,
    `--jobs=${Math.min(MAX_THREADS, clients)}`,
    `--time=${Math.ceil(seconds)}`,
    ...Object.entries(define).map(([name, value]) => `--define=${name}=${value}`),
    url,
  ];
  const { stdout } = await promisify(execFile)(program, args, { env: { ...process.env, PGOPTIONS: PLANNING } });
  if (/failed transactions: [1-9]/.test(stdout)) throw new Error(`pgbench failed: ${stdout}`);
  // Without a single transaction it prints no rate.
  return Number(/tps = ([\d.]+)/.exec(stdout)?.[1] ?? 0);
}
