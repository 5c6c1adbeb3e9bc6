import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Below the range from which the operating system takes ports for outgoing connections: a server that restarts must find
 * its port free, and a client that calls a closed port in that range may be connected to itself.
 */
const MIN_PORT = 20_000;
const PORT_COUNT = 10_000;
/** Ports of a block; the first one is held by the process that uses the others. */
const BLOCK_SIZE = 50;
const BLOCKS = PORT_COUNT / BLOCK_SIZE;

/** Starts of a server, each on another free port: another process may take the port first. */
export const PORT_TRIES = 3;

/** Tried, returned or reserved in this process; a server may not listen there yet. */
const reserved = new Set<number>();

/** freePort never returns this port afterwards. */
export function reservePort(port: number): void {
  reserved.add(port);
}

/** The variables with the ports of a system that `make run` starts. */
export const SYSTEM_PORTS = ["PAMM_HTTP_PORT", "PAMM_METRICS_PORT", "SIM_PORT", "SIM_CONTROL_PORT"] as const;

let block: Promise<Iterator<number>> | undefined;

/**
 * A port that is free now, a different one each time. Systems that start at the same time take ports of different blocks,
 * because the operating system gives the first port of a block to one process only.
 */
export async function freePort(host = "127.0.0.1"): Promise<number> {
  for (;;) {
    block ??= claimBlock(host);
    const { value: port, done } = (await block).next();
    if (done === true) block = undefined;
    else if (!reserved.has(port)) {
      reserved.add(port);
      if (await isFree(host, port)) return port;
    }
  }
}

/** Ports that a system keeps when it starts again. */
export async function fixedPorts(): Promise<Record<string, string>> {
  return Object.fromEntries(await Promise.all(SYSTEM_PORTS.map(async (name) => [name, String(await freePort())])));
}

/** Holds the first port of a block until this process ends; the others are for its servers. */
async function claimBlock(host: string): Promise<Iterator<number>> {
  const start = randomInt(BLOCKS);
  for (let index = 0; index < BLOCKS; index += 1) {
    const first = MIN_PORT + ((start + index) % BLOCKS) * BLOCK_SIZE;
    const ports = Array.from({ length: BLOCK_SIZE - 1 }, (_, offset) => first + 1 + offset);
    if (await hold(host, first)) return ports.values();
  }
  throw new Error(`no free port on ${host}`);
}

function hold(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", () => resolve(false));
    server.listen(port, host, () => resolve(true)).unref();
  });
}

export function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
