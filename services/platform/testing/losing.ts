import type { Pool } from "#kernel/postgres/pool.ts";
import { withInProcessState } from "../in-process-state.ts";
import { platformService } from "../service.ts";
import type { Instance } from "./world.ts";

/** The database connection ends during the commit of this number: after the commit (`isCommitted`) or before it. */
export type Loss = { readonly commit: number; readonly isCommitted: boolean };

/** The same process with a database connection that loses one of its commits. */
export function losing({ deps }: Instance, { commit, isCommitted }: Loss) {
  let commits = 0;
  const connect = async () => {
    const client = await deps.pool.connect();
    const query = client.query.bind(client) as (...parameters: unknown[]) => Promise<unknown>;
    const lossy = async (...parameters: unknown[]): Promise<unknown> => {
      commits += parameters[0] === "commit" ? 1 : 0;
      if (parameters[0] !== "commit" || commits !== commit) return query(...parameters);
      await query(isCommitted ? "commit" : "rollback");
      throw new Error("Connection terminated unexpectedly");
    };
    const realRelease = client.release.bind(client);
    const release = (): void => {
      Object.assign(client, { query, release: realRelease });
      realRelease();
    };
    return Object.assign(client, { query: lossy, release });
  };
  // Statements outside a transaction use the real pool unchanged.
  const pool = { query: deps.pool.query.bind(deps.pool), connect } as unknown as Pool;
  return platformService(withInProcessState({ ...deps, pool }));
}
