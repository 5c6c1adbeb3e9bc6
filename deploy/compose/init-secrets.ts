import { VAULT, VOLUMES } from "./places.ts";
import { runOnce } from "./one-shot.ts";
import { provideSecrets } from "./provide-secrets.ts";

/** The first container of `docker compose up`, and the only one that sees every secret. */
await runOnce("init-secrets", async (env) => {
  await provideSecrets(env, { vault: VAULT, volumes: VOLUMES });
  return "every container has what it needs to know; the API key: docker compose exec edge cat /run/pamm/api-key";
});
