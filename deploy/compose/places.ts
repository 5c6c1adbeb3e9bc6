/** Names that docker-compose.yml fixes; compose.test.ts holds the two together. */
export const POSTGRES_SERVER = "postgres:5432";
export const NATS_SERVER = "nats:4222";
export const NATS_LISTEN = "0.0.0.0:4222";
export const NATS_DATA = "/data";

/** What is made once, in the volume of the init containers. */
export const VAULT = "/var/lib/pamm";

/** Below it, the init containers see the volume of every other one. */
export const VOLUMES = "/volumes";

/** The state of the simulator, as a folder below `VOLUMES`. */
export const SIMULATOR_STATE = "simulator-state";
