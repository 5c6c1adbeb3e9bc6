import { freePort } from "../../../deploy/local/ports.ts";
import { eventually } from "../../journey/support/client.ts";
import type { Endpoint } from "../load/job.ts";
import { startScript } from "../start-service.ts";

/** The processes of a peer. */
export type PeerProcesses = AsyncDisposable & {
  readonly endpoint: Endpoint;
  readonly pids: ReadonlyMap<string, number>;
  readonly signal: (name: NodeJS.Signals) => void;
};

const HOST = "127.0.0.1";
const STARTS_WITHIN_MS = 60_000;

/** Starts scripts of this folder, by role; one of them answers HTTP at HTTP_PORT. */
export async function startProcesses(
  scripts: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
  logFile: string,
): Promise<PeerProcesses> {
  await using stack = new AsyncDisposableStack();
  const port = await freePort(HOST);
  const children = Object.entries(scripts).map(([role, script]) => {
    const own = { NODE_ENV: "production", ...env, HTTP_PORT: String(port) };
    // A peer has nothing to finish, and a process that is stopped by SIGSTOP ends by SIGKILL only.
    const options = { script: `test/bench/peers/${script}`, env: own, logFile, stopsBy: "KILL" } as const;
    return [role, stack.use(startScript(options))] as const;
  });
  await eventually(async () => {
    const { ok } = await fetch(`http://${HOST}:${port}/ready`);
    if (!ok) throw new Error(`not ready, see ${logFile}`);
  }, STARTS_WITHIN_MS);
  const held = stack.move();
  return {
    endpoint: { host: HOST, ports: [port], headers: {} },
    pids: new Map(children.map(([role, child]) => [role, child.pid])),
    signal: (name) => children.forEach(([, child]) => child.signal(name)),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}
