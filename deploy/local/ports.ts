import { createServer } from "node:net";
import process from "node:process";

/**
 * Below the range from which systems take ports for outgoing connections: a server that comes back after a crash must
 * find its port free, and a client that calls a dead one there may be connected to itself.
 */
const LEAST = 20_000;
const COUNT = 10_000;
const TRIES = 100;
/** More ports than one system takes, so that systems which start at the same time look at different ones. */
const APART = 61;

/** Tried or given away by this process, or meant for somebody, and perhaps not held yet. */
const spoken = new Set<number>();

/** Never answers this one. */
export function keepPort(port: number): void {
  spoken.add(port);
}

let next = (process.pid * APART) % COUNT;

/** A port that nobody holds at this moment, another one each time; whoever uses it must be ready to lose the race. */
export async function freePort(host = "127.0.0.1"): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = LEAST + next;
    next = (next + 1) % COUNT;
    if (spoken.has(port)) continue;
    spoken.add(port);
    if (await isFree(host, port)) return port;
  }
  throw new Error(`no free port on ${host}`);
}

export function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
