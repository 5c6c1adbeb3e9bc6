import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { createServer, type TLSSocket } from "node:tls";
import type { ConnectionInjector } from "@grpc/grpc-js";
import type { Log } from "../process/log.ts";
import { listen } from "../process/startup-error.ts";
import type { ServiceName } from "#catalogue/services.ts";
import { type Identity, nameIn } from "../certificates/identity.ts";

/** The services at the other end of the open connections, by address and port as gRPC has them. */
export type Peers = {
  readonly port: number;
  readonly nameOf: (peer: string) => ServiceName | undefined;
  /** New connections are refused from now on. */
  readonly close: () => void;
  /** Resolves when the open connections have ended, or after this time. */
  readonly ended: (withinMs: number) => Promise<void>;
};

type Listen = { readonly host: string; readonly port: number; readonly identity: Identity; readonly log: Log };

/**
 * Accepts connections of services with a certificate of the same authority, and passes them on to the gRPC server. The certificate is read once for a
 * connection: gRPC's own way reads it for every call, which costs a tenth of a millisecond.
 */
export async function acceptPeers(injector: ConnectionInjector, { host, port, identity, log }: Listen): Promise<Peers> {
  const names = new Map<string, ServiceName>();
  const open = new Set<Promise<unknown>>();
  const { ca, cert, key } = identity;
  const options = { ca, cert, key, requestCert: true, rejectUnauthorized: true, minVersion: "TLSv1.3" } as const;
  const server = createServer({ ...options, ALPNProtocols: ["h2"] }, (socket) => {
    const certificate = socket.getPeerX509Certificate();
    const name = certificate && nameIn(certificate);
    if (name === undefined) {
      log.warn("connection refused, its certificate names no service", { address: socket.remoteAddress });
      socket.destroy();
      return;
    }
    const address = addressOf(socket);
    names.set(address, name);
    const closed = once(socket, "close").catch(() => undefined);
    open.add(closed);
    void closed.then(() => {
      names.delete(address);
      open.delete(closed);
    });
    injector.injectConnection(socket);
  });
  server.on("tlsClientError", (error, socket) => {
    log.warn("connection refused, it has no certificate of this system", { address: socket.remoteAddress, error });
  });
  return {
    port: await listen(server, "gRPC", host, port),
    nameOf: (peer) => names.get(peer),
    close: () => void server.close(),
    ended: async (withinMs) =>
      void (await Promise.race([Promise.all(open), sleep(withinMs, undefined, { ref: false })])),
  };
}

/** In the form of `getPeer` of a call. */
function addressOf({ remoteAddress, remotePort }: TLSSocket): string {
  return `${remoteAddress}:${remotePort}`;
}
