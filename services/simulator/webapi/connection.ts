import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { CLOSED, type Session } from "./session.ts";

/** A session belongs to one TCP connection and ends with it. */
export type Connection = {
  readonly raw: Socket;
  readonly tls: TLSSocket;
  session: Session;
  /** Requests in progress: such a connection is not idle, however long an answer takes. */
  pending: number;
};

export function openConnection(raw: Socket, tls: TLSSocket): Connection {
  return { raw, tls, session: CLOSED, pending: 0 };
}

/** Resets the connection: queued bytes are lost in both directions, as when a server crashes. */
export function resetConnection({ raw, tls }: Connection): void {
  // Only the raw socket can be reset; TLS on top of it would refuse.
  if (!raw.destroyed) raw.resetAndDestroy();
  tls.destroy();
}
