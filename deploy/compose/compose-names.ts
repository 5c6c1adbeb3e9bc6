/** Names that docker-compose.yml uses too; compose.test.ts compares them. */
export const POSTGRES_SERVER = "postgres:5432";
/** In a cluster: forwards to the primary, wherever it is. */
export const DATABASE_PROXY = "database:5432";
/** The role as which a standby copies the database, and its name to the primary. */
export const STANDBY = "pamm_standby";
export const NATS_NODES = ["nats", "nats-2", "nats-3"] as const;
export const NATS_PORT = 4222;
export const NATS_ROUTE_PORT = 6222;
export const NATS_MONITOR_PORT = 8222;
export const NATS_LISTEN = `0.0.0.0:${NATS_PORT}`;
export const NATS_DATA = "/data";
export const NATS_SECRETS = "/run/pamm";

/** The mark of a cluster, as a file beside the generated secrets. */
export const CLUSTER_MARK = "cluster";

/** Secrets that were generated once, in the volume of the init containers. */
export const GENERATED_SECRETS = "/var/lib/pamm";

/** The folder below which init-secrets sees the volume of every other container. */
export const VOLUMES = "/volumes";

/** The state of the simulator, as a folder below `VOLUMES`. */
export const SIMULATOR_STATE = "simulator-state";

/** Where the simulator keeps its certificate, as its own containers see it. */
export const SIMULATOR_FOLDER = "/var/lib/pamm/simulator";

/** Where a container sees its own secrets. */
export const OWN_SECRETS = "/run/pamm";

/** The file with the number of copies of each stream. */
export const STREAM_REPLICAS_FILE = "stream-replicas";
