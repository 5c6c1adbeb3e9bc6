import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { Client } from "#kernel/contract/contract.ts";
import { connectNats } from "#kernel/nats/connect.ts";
import { serveOverNats } from "#kernel/nats/serve.ts";
import { permitAll } from "#kernel/testing/identity.ts";
import { FundingServiceService } from "#proto/pamm/funding/v1/funding.ts";
import { testDatabase } from "#test/support/database.ts";
import { startOwnNats } from "#test/support/nats.ts";
import { waitFor } from "#test/support/wait-for.ts";
import { aDeposit, aWithdrawal } from "../api/samples/funding.ts";
import { cents } from "../api/samples/values.ts";
import { logTo } from "./test-edge.ts";

type Deposit = Client<FundingServiceService>["deposit"];

export const MAIN = join(import.meta.dirname, "../main.ts");
const KEYS = join(import.meta.dirname, "../keys.ts");
export const BOOTSTRAP = "a-bootstrap-key-of-tests";
/** Long enough for a process to start on a busy machine. */
const STARTED_WITHIN_MS = 90_000;

type Environment = Readonly<Record<string, string>>;
type Run = { readonly child: ChildProcess; readonly out: () => string; readonly errors: () => string };

function run(script: string, args: readonly string[], env: Environment): Run {
  // The sources that another process has compiled are not compiled again.
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...env, NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] },
  });
  const [out, errors] = [[] as string[], [] as string[]];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => errors.push(chunk.toString()));
  return { child, out: () => out.join(""), errors: () => errors.join("") };
}

export async function keys(args: string, env: Environment): Promise<{ code: number; out: string; errors: string }> {
  const { child, out, errors } = run(KEYS, args.split(" "), env);
  const [code] = (await once(child, "close")) as [number];
  return { code, out: out().trim(), errors: errors() };
}

export async function edgeEnvironment(): Promise<{
  env: Environment;
  natsUrl: string;
  nats: Awaited<ReturnType<typeof startOwnNats>>;
  database: Awaited<ReturnType<typeof testDatabase>>;
}> {
  const [database, nats] = [await testDatabase("edge"), await startOwnNats()];
  const env = {
    EDGE_DATABASE_URL: database.url,
    NATS_URL: nats.url,
    PAMM_HTTP_PORT: "0",
    PAMM_METRICS_PORT: "0",
    PAMM_API_KEY_PEPPER: randomBytes(32).toString("base64"),
    PAMM_REHEARSAL: "true",
    PAMM_BOOTSTRAP_API_KEY: BOOTSTRAP,
  };
  return { env, natsUrl: nats.url, nats, database };
}

/** Exit code and errors of a process that ends by itself. */
export async function ended(script: string, args: readonly string[], env: Environment): Promise<[number, string]> {
  const { child, errors } = run(script, args, env);
  const [code] = (await once(child, "close")) as [number];
  return [code, errors()];
}

export async function startedEdge(env: Environment): Promise<Run & { url: string }> {
  const edge = run(MAIN, [], env);
  onTestFinished(async () => {
    if (edge.child.exitCode === null && edge.child.kill("SIGTERM")) await once(edge.child, "close");
  });
  const readUrl = () => /"url":"(http[^"]+)","msg":"listening"/.exec(edge.out())?.[1] ?? "";
  await waitFor(() => expect(readUrl()).not.toBe(""), { timeout: STARTED_WITHIN_MS });
  return { ...edge, url: readUrl() };
}

/** Serves a funding service that answers at once; `deposit` replaces its deposit command. */
export async function serveFunding(
  natsUrl: string,
  deposit: Deposit = async (_request, { commandId }) => aDeposit({ operationId: commandId }),
): Promise<void> {
  const log = logTo([]);
  const broker = await connectNats({ url: natsUrl, name: "funding", log });
  const implementation: Partial<Client<FundingServiceService>> = {
    deposit,
    withdraw: async (_request, { commandId }) => aWithdrawal({ operationId: commandId }),
    getBalance: async () => ({ login: "1", balance: cents(1n), error: "", isUnknown: false }),
  };
  const server = await serveOverNats(broker, {
    permissions: permitAll(FundingServiceService),
    service: "funding",
    contract: FundingServiceService,
    implementation: implementation as Client<FundingServiceService>,
    log,
  });
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]();
    await broker[Symbol.asyncDispose]();
  });
}
