/** Names that docker-compose.yml uses too; compose.test.ts compares them. */
export const POSTGRES_SERVER = "postgres:5432";
export const NATS_SERVER = "nats:4222";
export const NATS_LISTEN = "0.0.0.0:4222";
export const NATS_DATA = "/data";
export const NATS_SECRETS = "/run/pamm";

/** Secrets that were generated once, in the volume of the init containers. */
export const GENERATED_SECRETS = "/var/lib/pamm";

/** The folder below which init-secrets sees the volume of every other container. */
export const VOLUMES = "/volumes";

/** The state of the simulator, as a folder below `VOLUMES`. */
export const SIMULATOR_STATE = "simulator-state";

/** Where a container sees its own secrets. */
export const OWN_SECRETS = "/run/pamm";

/** The file with the URL of the user who may change streams; empty when the operator sets them up. */
export const NATS_SETUP_FILE = "nats-setup-url";

/** The file with the URL of a schema's owner; empty when the operator migrates. */
export function migrationFile(service: string): string {
  return `${service}-url`;
}
