import type { Secret } from "#kernel/secret.ts";
import { deliverWebhooks, type DeliverOptions } from "./deliver.ts";
import { encryptSecretsAgain } from "./encrypt-again.ts";
import { createSecretCipher } from "./secret-cipher.ts";
import { watchWebhooks } from "./watch-webhooks.ts";
import { openWebhooks, type Webhooks } from "./webhooks.ts";

type StartOptions = Omit<DeliverOptions, "cipher"> & {
  readonly key: Secret<Buffer> | undefined;
  readonly oldKey: Secret<Buffer> | undefined;
};

/** Without a key nothing is sent, and no webhook can be created. */
export function startWebhooks(stack: AsyncDisposableStack, { key, oldKey, ...options }: StartOptions): Webhooks {
  const { pool, log } = options;
  stack.use(watchWebhooks(pool, log));
  if (key === undefined) return openWebhooks(pool, undefined);
  const cipher = createSecretCipher(oldKey === undefined ? [key] : [key, oldKey]);
  stack.use(encryptSecretsAgain(pool, cipher, log));
  stack.use(deliverWebhooks({ ...options, cipher }));
  return openWebhooks(pool, cipher);
}
