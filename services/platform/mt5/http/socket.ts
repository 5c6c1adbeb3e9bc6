import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { Mt5Error } from "../errors.ts";

export type DialOptions = {
  readonly host: string;
  readonly port: number;
  /** PEM of the authority that the server's certificate must come from; the machine's own authorities when absent. */
  readonly ca?: string;
  /** Takes any certificate. Only ever by an explicit setting. */
  readonly insecure?: boolean;
  readonly dialTimeoutMs: number;
};

export type Wire = {
  readonly tls: TLSSocket;
  /** Ends the connection so that nothing that was written and not yet delivered ever leaves. */
  readonly reset: () => void;
};

/**
 * Opens the TCP socket itself and puts TLS on top. Only so can the raw socket be reset: destroying a TLS socket lets the
 * kernel go on delivering what was queued, and resetting one that tls.connect made is refused.
 */
export async function dial(options: DialOptions, signal?: AbortSignal): Promise<Wire> {
  const { host, port, ca, insecure = false, dialTimeoutMs } = options;
  const raw = connect({ host, port, noDelay: true, keepAlive: true });
  const tls = connectTls({
    socket: raw,
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca }),
    rejectUnauthorized: !insecure,
    minVersion: "TLSv1.2",
    ALPNProtocols: ["http/1.1"],
  });
  const wire = { tls, reset: () => reset(raw) };
  try {
    await secured(raw, tls, { dialTimeoutMs, ...(signal === undefined ? {} : { signal }) });
    return wire;
  } catch (error) {
    wire.reset();
    const reason = error instanceof Error ? error.message : String(error);
    throw new Mt5Error("unreachable", `no TLS connection to ${host}:${port}: ${reason}`, { cause: error });
  }
}

function secured(raw: Socket, tls: TLSSocket, limits: { dialTimeoutMs: number; signal?: AbortSignal }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error("timed out")), limits.dialTimeoutMs);
  const abort = () => reject(new Error("given up"));
  limits.signal?.addEventListener("abort", abort, { once: true });
  if (limits.signal?.aborted === true) abort();
  tls.once("secureConnect", resolve);
  // These stay: whatever happens to a socket later, an error without a listener would end the process.
  raw.on("error", reject);
  tls.on("error", reject);
  raw.once("close", () => reject(new Error("the connection was closed")));
  return promise.finally(() => {
    clearTimeout(timer);
    limits.signal?.removeEventListener("abort", abort);
  });
}

/**
 * The first call alone would wait until its stream has finished; the second ends it at once, as a reset. The TLS socket
 * on top closes by itself when the raw one has: destroying it here as well crashes the process (Node 24).
 */
function reset(raw: Socket): void {
  if (raw.destroyed) return;
  // A socket that is not connected yet has sent nothing, and cannot be reset.
  if (!raw.connecting) raw.resetAndDestroy();
  raw.destroy();
}
