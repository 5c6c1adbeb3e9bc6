import type { Agent } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

/** One connection of the service to the proxy. */
export type Connection = {
  readonly tls: TLSSocket;
  readonly raw: Socket;
  /** Holds the only connection to the simulator: a session belongs to its connection. */
  readonly simulator: Agent;
  /** Delayed answers, sent before the next one. */
  readonly delayed: Buffer[];
  /** The last answer to a command that moved money. */
  lastMoneyAnswer: Buffer | undefined;
};

export function httpAnswer(body: string | Buffer, { status = "200 OK", headers = "" } = {}): Buffer {
  const content = Buffer.from(body);
  const type = headers.includes("Content-Type") ? "" : "Content-Type: application/json\r\n";
  const head = `HTTP/1.1 ${status}\r\n${type}${headers}Content-Length: ${content.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), content]);
}

export const FORBIDDEN = httpAnswer("403 Forbidden", { status: "403 Forbidden" });

export function failure(code: number): string {
  return JSON.stringify({ retcode: `${code} Refused` });
}

/** Writes delayed answers first; does nothing on a closed connection. */
export function send({ tls, delayed }: Connection, bytes: Buffer | string): void {
  if (!tls.writable) return;
  for (const answer of [...delayed.splice(0), bytes]) tls.write(answer);
}

/** Resets TCP, as a crash or a firewall does: queued data is lost. */
export function reset({ raw }: Connection): void {
  if (!raw.destroyed) raw.resetAndDestroy();
  raw.destroy();
}
