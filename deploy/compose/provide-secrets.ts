import { mkdir, open, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { getCACertificates } from "node:tls";
import type { Environment } from "#kernel/config.ts";
import { readOrMakeSecrets } from "../local/secrets.ts";
import { ensureCertificate } from "../../services/simulator/webapi/certificate.ts";
import { type Given, readGiven, readGivenDatabases } from "./given.ts";
import { SIMULATOR_STATE } from "./places.ts";
import { type Files, secretFiles } from "./secret-files.ts";

export type Places = {
  /** Keeps what is made. */
  readonly vault: string;
  /** Holds a folder for every container. */
  readonly volumes: string;
};

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

/** Makes what nobody brings, and gives every container what it needs. Safe to repeat: what was made stays as it is. */
export async function provideSecrets(env: Environment, { vault, volumes }: Places): Promise<void> {
  const given = readGiven(env);
  const databases = readGivenDatabases(env);
  await mkdir(join(vault, "secret"), { recursive: true, mode: PRIVATE_FOLDER });
  const made = readOrMakeSecrets(vault);
  const trusted = await trustedCertificates(given, join(volumes, SIMULATOR_STATE));
  await writeFiles(volumes, secretFiles({ given, databases, made, trusted }));
}

/** The simulator takes the certificate that it finds, so the platform can know it before the simulator runs. */
async function trustedCertificates({ isSimulated, tlsNames }: Given, simulatorState: string): Promise<string> {
  if (!isSimulated) return `${getCACertificates("default").join("\n")}\n`;
  const folder = join(simulatorState, "simulator");
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  return (await ensureCertificate(folder, tlsNames)).cert;
}

async function writeFiles(volumes: string, files: Files): Promise<void> {
  for (const [container, content] of Object.entries(files)) {
    const folder = join(volumes, container);
    for (const [name, text] of Object.entries(content)) await writeWhole(join(folder, name), text);
    await sync(folder);
  }
}

/** A container that starts at this moment reads the old text or the new one, never a part. */
async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: PRIVATE_FILE, flush: true });
  await rename(`${path}.new`, path);
}

async function sync(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync();
  await handle.close();
}
