import type { GetClosingRequest, GetClosingResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { closingMessage } from "../messages/closing.ts";
import { countLeft, findClosing } from "../store/closings.ts";

/** The closing of a Master, if one has begun. */
export async function getClosing(
  { pool }: Pick<Deps, "pool">,
  { masterLogin }: GetClosingRequest,
): Promise<GetClosingResponse> {
  const closing = await findClosing(pool, masterLogin);
  return { closing: closing && closingMessage(closing, await countLeft(pool, masterLogin)) };
}
