import { createHash } from "node:crypto";
import { createServer, type Server } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 100;

/**
 * There is one price, and whoever moves it moves everybody's positions: demos that run at once take turns. The name
 * belongs to one process and is gone with it.
 */
export async function holdMarket(controlUrl: string): Promise<AsyncDisposable> {
  const name = `\0pamm-demo-market-${createHash("sha256").update(controlUrl).digest("hex").slice(0, 32)}`;
  for (;;) {
    const server = createServer((socket) => socket.destroy());
    if (await canListen(server, name)) return server;
    await sleep(POLL_MS);
  }
}

function canListen(server: Server, name: string): Promise<boolean> {
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(name, () => resolve(true));
  });
}
