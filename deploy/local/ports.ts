import { createServer } from "node:net";
import process from "node:process";

/**
 * Below the range from which the operating system takes ports for outgoing connections: a server that restarts must find
 * its port free, and a client that calls a closed port in that range may be connected to itself.
 */
const MIN_PORT = 20_000;
const PORT_COUNT = 10_000;
const TRIES = 100;
/** More ports than one system takes, so that systems which start at the same time look at different ones. */
const APART = 61;

/** Tried, returned or reserved in this process; a server may not listen there yet. */
const reserved = new Set<number>();

/** freePort never returns this port afterwards. */
export function reservePort(port: number): void {
  reserved.add(port);
}

let next = (process.pid * APART) % PORT_COUNT;

/** A port that is free now, a different one each time. Another process may still take it first; the caller handles that. */
export async function freePort(host = "127.0.0.1"): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = MIN_PORT + next;
    next = (next + 1) % PORT_COUNT;
    if (reserved.has(port)) continue;
    reserved.add(port);
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
