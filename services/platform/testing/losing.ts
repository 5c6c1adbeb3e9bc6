import type { Pool } from "#kernel/postgres/pool.ts";
import { platformService } from "../service.ts";
import type { Instance } from "./world.ts";

/** The connection dies while a commit is on its way: after it happened, or before. */
export type Loss = { readonly commit: number; readonly happens: boolean };

/** The same process, over a database connection that loses one of its commits. */
export function losing({ deps }: Instance, { commit, happens }: Loss) {
  let seen = 0;
  const connect = async () => {
    const client = await deps.pool.connect();
    const query = client.query.bind(client) as (...words: unknown[]) => Promise<unknown>;
    const lossy = async (...words: unknown[]): Promise<unknown> => {
      seen += words[0] === "commit" ? 1 : 0;
      if (words[0] !== "commit" || seen !== commit) return query(...words);
      await query(happens ? "commit" : "rollback");
      throw new Error("Connection terminated unexpectedly");
    };
    const giveBack = client.release.bind(client);
    const release = (): void => {
      Object.assign(client, { query, release: giveBack });
      giveBack();
    };
    return Object.assign(client, { query: lossy, release });
  };
  // Everything else is the real pool's own, so that its statements outside a transaction are left alone.
  const pool = { query: deps.pool.query.bind(deps.pool), connect } as unknown as Pool;
  return platformService({ ...deps, pool });
}
