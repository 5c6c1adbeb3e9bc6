import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** What lies between the service and the platform. */
export type Line = AsyncDisposable & {
  readonly port: number;
  /** For so long nothing arrives at either end, and nobody is told: connections stay open, and new ones come to nothing. */
  readonly swallow: (ms: number) => Promise<void>;
};

/** Passes everything on to the port of this machine. What was swallowed is gone for good, with its connections. */
export async function layLine(to: number): Promise<Line> {
  let isDead = false;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = isDead ? undefined : connect({ host: "127.0.0.1", port: to, noDelay: true });
    for (const end of far === undefined ? [near] : [near, far]) {
      open.add(end);
      end.once("close", () => open.delete(end));
    }
    pass(near, far);
    if (far !== undefined) pass(far, near);
  });

  function pass(from: Socket, onto: Socket | undefined): void {
    from.on("data", (bytes) => {
      if (!isDead) onto?.write(bytes);
    });
    // Not even that one end has gone is heard of at the other.
    from.once("close", () => {
      if (!isDead) onto?.resetAndDestroy();
    });
    from.on("error", () => from.destroy());
  }

  function cut(): void {
    for (const end of open) end.destroy();
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async swallow(ms) {
      isDead = true;
      await sleep(ms);
      cut();
      isDead = false;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      cut();
      await once(server, "close");
    },
  };
}
