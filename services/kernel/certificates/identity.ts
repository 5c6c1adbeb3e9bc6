import { createPrivateKey, X509Certificate } from "node:crypto";
import { Gauge } from "prom-client";
import { text } from "../process/config-variables.ts";
import { SERVICE_NAMES, type ServiceName } from "#catalogue/services.ts";
import { readCertificates } from "./read-certificates.ts";
import { StartupError } from "../process/startup-error.ts";

/** What a service proves its name with, in PEM, and the authority that it accepts other services from. */
export type Identity = {
  readonly name: ServiceName;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
};

const PEM = "a file in PEM";

/** Variables of every service that serves or calls gRPC. */
export const IDENTITY_SETTINGS = {
  PAMM_TLS_CA_FILE: text(PEM),
  PAMM_TLS_CERT_FILE: text(PEM),
  PAMM_TLS_KEY_FILE: text(PEM),
};

type IdentitySettings = { readonly [Name in keyof typeof IDENTITY_SETTINGS]: string };

const expires = new Gauge({
  name: "pamm_tls_certificate_expires_timestamp_seconds",
  help: "When the certificate ends that this process proves its name with, in seconds since 1970.",
});

const authorityExpires = new Gauge({
  name: "pamm_tls_authority_expires_timestamp_seconds",
  help: "When the authority ends that this process accepts other services from, in seconds since 1970; of several, the first to end.",
});

/** Reads the certificate of a service. Throws a StartupError when it cannot prove the name of the service. */
export function readIdentity(name: ServiceName, settings: IdentitySettings): Identity {
  const read = (variable: keyof IdentitySettings): string => readCertificates(variable, settings[variable]) ?? "";
  const [ca, cert, key] = [read("PAMM_TLS_CA_FILE"), read("PAMM_TLS_CERT_FILE"), read("PAMM_TLS_KEY_FILE")];
  const problem = problemOf(name, { ca, cert, key });
  if (problem !== undefined) throw new StartupError(problem);
  expires.set(new X509Certificate(cert).validToDate.getTime() / 1_000);
  authorityExpires.set(Math.min(...certificatesIn(ca).map(endOf)) / 1_000);
  return { name, ca, cert, key };
}

const PEM_BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function certificatesIn(pem: string): X509Certificate[] {
  return (pem.match(PEM_BLOCK) ?? []).map((block) => new X509Certificate(block));
}

function endOf({ validToDate }: X509Certificate): number {
  return validToDate.getTime();
}

function problemOf(name: ServiceName, { ca, cert, key }: Omit<Identity, "name">): string | undefined {
  const own = parsed(() => new X509Certificate(cert));
  const authority = parsed(() => new X509Certificate(ca));
  const privateKey = parsed(() => createPrivateKey(key));
  if (authority === undefined) return "PAMM_TLS_CA_FILE has no certificate in PEM";
  if (own === undefined) return "PAMM_TLS_CERT_FILE has no certificate in PEM";
  if (privateKey === undefined) return "PAMM_TLS_KEY_FILE has no private key in PEM";
  if (!own.checkPrivateKey(privateKey)) {
    return "PAMM_TLS_KEY_FILE does not belong to the certificate in PAMM_TLS_CERT_FILE";
  }
  if (nameIn(own) !== name) {
    return `PAMM_TLS_CERT_FILE is not the certificate of ${name}: ${own.subjectAltName ?? "no name"}`;
  }
  return own.validToDate.getTime() > Date.now() ? undefined : `PAMM_TLS_CERT_FILE expired at ${own.validTo}`;
}

/** The service that a certificate names; undefined when it names none, or several. */
export function nameIn(certificate: X509Certificate): ServiceName | undefined {
  const names = SERVICE_NAMES.filter(
    (name) => certificate.checkHost(name, { subject: "never", wildcards: false }) !== undefined,
  );
  return names.length === 1 ? names[0] : undefined;
}

function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
