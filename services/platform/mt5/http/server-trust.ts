import { isIP } from "node:net";
import { checkServerIdentity, type ConnectionOptions, type TLSSocket } from "node:tls";

/** Which certificate of the trading platform is trusted. There is no way to trust any. */
export type ServerTrust =
  | {
      /** PEM of the authorities that may have issued it; the system's authorities when absent. */
      readonly ca?: string | undefined;
      /** The name or address that it is for, when that differs from the host of the URL. */
      readonly name?: string | undefined;
    }
  /** Exactly one certificate, by any issuer, by the SHA-256 of its DER form: 64 hexadecimal digits in upper case. */
  | { readonly fingerprint: string };

/** The options of a TLS connection to this host. `requireTrusted` completes the check of a pinned certificate. */
export function tlsOptions(host: string, trust: ServerTrust): ConnectionOptions {
  const common = { host, minVersion: "TLSv1.2", ALPNProtocols: ["http/1.1"] } as const;
  if ("fingerprint" in trust) return { ...common, ...serverName(host), rejectUnauthorized: false };
  const { ca, name = host } = trust;
  return {
    ...common,
    ...serverName(name),
    ...(ca === undefined ? {} : { ca }),
    checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
  };
}

class UntrustedServer extends Error {}

/** Whether a connection failed because of the server's certificate. */
export function isUntrusted(error: unknown, tls: TLSSocket, trust: ServerTrust): boolean {
  // With a pinned certificate the socket also notes what it would have refused.
  const isRefused = !("fingerprint" in trust) && Boolean(tls.authorizationError);
  return error instanceof UntrustedServer || isRefused;
}

/** Throws when the connection is not with the pinned certificate. Called before anything is written. */
export function requireTrusted(tls: TLSSocket, trust: ServerTrust): void {
  if (!("fingerprint" in trust)) return;
  const shown = tls.getPeerX509Certificate()?.fingerprint256.replaceAll(":", "");
  if (shown === trust.fingerprint) return;
  throw new UntrustedServer(
    `the server has another certificate than the pinned one, with the SHA-256 fingerprint ${shown}`,
  );
}

/** A server name is never an address (RFC 6066). */
function serverName(name: string): ConnectionOptions {
  return isIP(name) === 0 ? { servername: name } : {};
}
