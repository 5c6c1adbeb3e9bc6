import type { Mt5ReadContext } from "./context.ts";
import { Mt5Error } from "./errors.ts";
import { totalOf } from "./lists.ts";
import { findDone } from "./reader.ts";
import { RETCODE } from "./retcodes.ts";

/**
 * The length of a list of an account. Some servers answer an empty list with "not found", which they also answer for an
 * account that does not exist: only the list of an account that the platform shows is empty. Throws for any other account.
 */
export async function readTotal(
  { read }: Pick<Mt5ReadContext, "read">,
  path: string,
  query: Readonly<Record<string, string>> & { readonly login: string },
): Promise<number> {
  const { login } = query;
  const envelope = await read({ method: "GET", path, query });
  if (envelope.code !== RETCODE.notFound) return totalOf(envelope);
  if (findDone(await read({ method: "GET", path: "user/get", query: { login } })) !== undefined) return 0;
  throw new Mt5Error("retcode", `the platform answers ${envelope.code} ${envelope.text}, and shows no such account`, {
    retcode: envelope.code,
  });
}
