import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** The network link between the platform service and the trading platform. */
export type Link = AsyncDisposable & {
  readonly port: number;
  /** Drops all data for this time: open connections stay open, and new ones receive no answer. */
  readonly drop: (ms: number) => Promise<void>;
};

/** Forwards all data to a local port. Connections that lost data are closed when the drop ends. */
export async function openLink(to: number): Promise<Link> {
  let isDropping = false;
  const open = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing = isDropping ? undefined : connect({ host: "127.0.0.1", port: to, noDelay: true });
    for (const end of outgoing === undefined ? [incoming] : [incoming, outgoing]) {
      open.add(end);
      end.once("close", () => open.delete(end));
    }
    forward(incoming, outgoing);
    if (outgoing !== undefined) forward(outgoing, incoming);
  });

  function forward(from: Socket, onto: Socket | undefined): void {
    from.on("data", (bytes) => {
      if (!isDropping) onto?.write(bytes);
    });
    // While data is dropped, the other end is not closed either.
    from.once("close", () => {
      if (!isDropping) onto?.resetAndDestroy();
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
    async drop(ms) {
      isDropping = true;
      await sleep(ms);
      cut();
      isDropping = false;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      cut();
      await once(server, "close");
    },
  };
}
