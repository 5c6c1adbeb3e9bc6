import { join } from "node:path";
import type { Environment } from "../process/config.ts";
import { armFailpoints } from "../process/failpoint.ts";
import type { Log } from "../process/log.ts";
import { findServerProblems } from "../postgres/durable-server.ts";
import type { Secret } from "../values/secret.ts";
import { StartupError } from "../process/startup-error.ts";
import { type Configured, findUnsafe } from "./find-unsafe.ts";
import { findUnknown } from "#catalogue/variables.ts";

type RehearsalSettings = { readonly PAMM_REHEARSAL: boolean; readonly PAMM_FAILPOINTS?: string | undefined };

/** Refused where real money is moved. Logged as a warning, so that the operator does not leave failpoints armed. */
export function armForRehearsal(settings: RehearsalSettings, service: string, log: Log): void {
  const { PAMM_FAILPOINTS: folder, PAMM_REHEARSAL: isRehearsal } = settings;
  if (folder === undefined) return;
  if (!isRehearsal) {
    throw new StartupError(
      "PAMM_FAILPOINTS makes the process kill itself: remove it, or set PAMM_REHEARSAL=true where no real money is moved",
    );
  }
  armFailpoints(join(folder, service));
  log.warn("failpoints armed, the process kills itself at each one that the folder names", { reason: folder });
}

export type SafetyFacts = {
  readonly service: string;
  readonly settings: Configured & {
    readonly PAMM_REHEARSAL: boolean;
    readonly PAMM_ENVIRONMENT: "development" | "production";
  };
  readonly databaseUrl: Secret<string>;
  readonly env: Environment;
  readonly log: Log;
};

/** Ends the start with every reason against this configuration and this database server, one a line. */
export async function requireSafety({ service, settings, databaseUrl, env, log }: SafetyFacts): Promise<void> {
  const isProduction = settings.PAMM_ENVIRONMENT === "production";
  const unsafe = isProduction ? findUnsafe(settings, env) : [];
  const use = { schema: service, isRehearsal: settings.PAMM_REHEARSAL, isProduction };
  const problems = await findServerProblems(databaseUrl.reveal(), use).catch((error: unknown) => {
    if (unsafe.length === 0) throw error;
    return [];
  });
  if (unsafe.length + problems.length > 0) throw new StartupError([...unsafe, ...problems].join("\n"));
  for (const name of findUnknown(env)) log.warn("variable unknown, it has no effect", { reason: name });
}
