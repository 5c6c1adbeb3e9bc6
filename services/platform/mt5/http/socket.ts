import { connect, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { Mt5Error } from "../errors.ts";
import { showCertificate } from "../metrics.ts";
import { isUntrusted, requireTrusted, type ServerTrust, tlsOptions } from "./server-trust.ts";

export type DialOptions = {
  readonly host: string;
  readonly port: number;
  readonly trust: ServerTrust;
  readonly dialTimeoutMs: number;
};

export type Wire = {
  readonly tls: TLSSocket;
  /** Ends the connection so that no byte that is still queued is ever sent. */
  readonly reset: () => void;
};

/**
 * Opens the TCP socket and adds TLS to it, so that the raw socket can be reset: after a TLS socket is destroyed, the
 * operating system still delivers queued bytes, and a socket that tls.connect created cannot be reset.
 */
export async function dial(options: DialOptions, signal?: AbortSignal): Promise<Wire> {
  const { host, port, trust, dialTimeoutMs } = options;
  const raw = connect({ host, port, noDelay: true, keepAlive: true });
  const tls = connectTls({ ...tlsOptions(host, trust), socket: raw });
  const wire = { tls, reset: () => reset(raw) };
  try {
    await secured(raw, tls, { dialTimeoutMs, ...(signal === undefined ? {} : { signal }) });
    requireTrusted(tls, trust);
    const shown = tls.getPeerX509Certificate();
    if (shown !== undefined) showCertificate(shown.validToDate);
    return wire;
  } catch (error) {
    wire.reset();
    const reason = error instanceof Error ? error.message : String(error);
    const problem = isUntrusted(error, tls, trust) ? "untrusted" : "unreachable";
    throw new Mt5Error(problem, `no TLS connection to ${host}:${port}: ${reason}`, { cause: error });
  }
}

function secured(raw: Socket, tls: TLSSocket, limits: { dialTimeoutMs: number; signal?: AbortSignal }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error("timed out")), limits.dialTimeoutMs);
  const abort = () => reject(new Error("cancelled"));
  limits.signal?.addEventListener("abort", abort, { once: true });
  if (limits.signal?.aborted === true) abort();
  tls.once("secureConnect", resolve);
  // These listeners stay: a later error event without a listener would end the process.
  raw.on("error", reject);
  tls.on("error", reject);
  raw.once("close", () => reject(new Error("the connection was closed")));
  return promise.finally(() => {
    clearTimeout(timer);
    limits.signal?.removeEventListener("abort", abort);
  });
}

/**
 * resetAndDestroy alone would wait until the stream has finished; destroy ends it at once, as a reset. The TLS socket
 * closes by itself after the raw one: destroying it here as well crashes the process (Node 24).
 */
function reset(raw: Socket): void {
  if (raw.destroyed) return;
  // A socket that is not connected yet has sent nothing, and cannot be reset.
  if (!raw.connecting) raw.resetAndDestroy();
  raw.destroy();
}
