import { createServer } from "node:net";

/**
 * Below the range from which systems take ports for outgoing connections: a server that comes back after a crash must
 * find its port free, and a client that calls a dead one there may be connected to itself.
 */
const LEAST = 20_000;
const MOST = 29_999;
const TRIES = 100;

/** A port that nobody holds at this moment; whoever uses it must be ready to lose the race. */
export async function freePort(host = "127.0.0.1"): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = LEAST + Math.floor(Math.random() * (MOST - LEAST + 1));
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
