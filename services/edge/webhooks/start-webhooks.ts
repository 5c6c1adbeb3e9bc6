import type { Secret } from "#kernel/secret.ts";
import { deliverWebhooks, type DeliverOptions } from "./deliver.ts";
import { encryptAgain } from "./encrypt-again.ts";
import { createSecretCipher } from "./secret-cipher.ts";
import { openWebhooks, type Webhooks } from "./webhooks.ts";

type StartOptions = Omit<DeliverOptions, "cipher"> & {
  readonly key: Secret<Buffer> | undefined;
  readonly oldKey: Secret<Buffer> | undefined;
};

/** Without a key nothing is sent, and no webhook can be created. */
export async function startWebhooks(
  stack: AsyncDisposableStack,
  { key, oldKey, ...options }: StartOptions,
): Promise<Webhooks> {
  const { pool } = options;
  if (key === undefined) return openWebhooks(pool, undefined);
  const cipher = createSecretCipher(oldKey === undefined ? [key] : [key, oldKey]);
  await encryptAgain(pool, cipher);
  stack.use(deliverWebhooks({ ...options, cipher }));
  return openWebhooks(pool, cipher);
}
