import { mkdir } from "node:fs/promises";
import { list, optional } from "#kernel/process/config-variables.ts";
import { type Environment, readConfig } from "#kernel/process/config.ts";
import { ensureCertificate } from "../../../services/simulator/webapi/certificate.ts";

/** The simulator uses a certificate that exists, so that the platform can trust it before the simulator runs. */
export async function issueSimulatorCertificate(env: Environment, folder: string): Promise<void> {
  const { SIM_TLS_NAMES } = readConfig({ SIM_TLS_NAMES: optional(list()) }, env);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await ensureCertificate(folder, SIM_TLS_NAMES ?? []);
}
