import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { CLOSED, type Session } from "./session.ts";

/** A session belongs to one TCP connection and dies with it. */
export type Connection = {
  readonly raw: Socket;
  readonly tls: TLSSocket;
  session: Session;
  /** Requests being answered: such a connection is not idle, however long an answer takes. */
  pending: number;
};

export function openConnection(raw: Socket, tls: TLSSocket): Connection {
  return { raw, tls, session: CLOSED, pending: 0 };
}

/** Dies at once: what is queued in either direction is lost, as when a server goes down. */
export function resetConnection({ raw, tls }: Connection): void {
  // Only the raw socket can be reset; TLS on top of it would refuse.
  if (!raw.destroyed) raw.resetAndDestroy();
  tls.destroy();
}
