import { GENERATED_SECRETS, VOLUMES } from "./compose-names.ts";
import { runOnce } from "../provision/one-shot.ts";
import { provideSecrets } from "./provide-secrets.ts";

/** The first container of `docker compose up`, and the only one with access to every secret. */
await runOnce("init-secrets", async (env) => {
  await provideSecrets(env, { generated: GENERATED_SECRETS, volumes: VOLUMES });
  return "wrote the secrets of every container";
});
